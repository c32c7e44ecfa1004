package io.varve.memory.expiry;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;

import io.varve.memory.item.CacheFullException;
import io.varve.memory.offheap.MemoryBudget;
import io.varve.memory.offheap.Regions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Random operations on the store against sets of numbers, with compaction all the time. Confined to the test's thread.
 */
class EntryStoreModelTest {
    private static final long LIMIT_BYTES = 1L << 20;

    private final Map<Long, Integer> entries = new HashMap<>();
    private final MemoryBudget budget = new MemoryBudget(LIMIT_BYTES);

    /** Location modulo the number of cells is the cell, so that no second map is needed. */
    private EntryStore store = new EntryStore(1, new Regions(), budget, new BackLinks());

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 37, 500})
    void agreesWithSets(int cells) {
        long seed = new SplittableRandom().nextLong();
        System.out.println("EntryStoreModelTest seed " + seed);
        SplittableRandom random = new SplittableRandom(seed);
        store = new EntryStore(cells, new Regions(), budget, new BackLinks());
        List<Long> live = new ArrayList<>();
        long next = 0;
        for (int phase = 0; phase < 40; phase++) {
            // Phases grow and shrink the store by turns, from nothing to some 10,000 entries.
            int addsInTen = phase % 2 == 0 ? 8 : 1;
            for (int i = 0; i < 2000; i++) {
                if (random.nextInt(10) < addsInTen || live.isEmpty()) {
                    long location = next++;
                    entries.put(location, store.add((int) (location % cells), location));
                    live.add(location);
                } else {
                    remove(cells, live, random);
                }
            }
            if (random.nextBoolean()) {
                compact();
            }
            check(cells, "in phase " + phase + " with " + cells + " cells and seed " + seed);
        }
        while (!live.isEmpty()) {
            remove(cells, live, random);
        }
        compact();
        assertEquals(0, store.bytes());
        assertEquals(0, budget.chargedBytes());
    }

    @Test
    void aFullBudgetRefusesWithoutChange() {
        store = new EntryStore(2, new Regions(), budget, new BackLinks());
        long next = 0;
        boolean refused = false;
        while (!refused) {
            try {
                entries.put(next, store.add(0, next));
                next += 2;
            } catch (CacheFullException _) {
                refused = true;
            }
        }
        assertEquals(LIMIT_BYTES, store.bytes());
        assertThrows(CacheFullException.class, () -> store.add(1, 1));
        check(2, "when full");
        entries.put(1L, store.addMoved(1, 1));
        assertEquals(LIMIT_BYTES + EntryStore.SLAB_BYTES, store.bytes(), "a moved entry is never refused");
        check(2, "over the limit");
    }

    @Test
    void chunksAreDenseAfterMassRemoval() {
        int cells = 100;
        store = new EntryStore(cells, new Regions(), budget, new BackLinks());
        for (long location = 0; location < 100_000; location++) {
            entries.put(location, store.add((int) (location % cells), location));
        }
        for (long location = 0; location < 100_000; location++) {
            if (location % cells != 7) {
                store.remove(forget(location));
            }
        }
        long before = store.bytes();
        compact();
        check(cells, "after removal");
        // 1,000 entries in 25 chunks; up to a slab's worth of free chunks and one spare slab stay.
        assertTrue(store.bytes() <= 3 * EntryStore.SLAB_BYTES, "bytes " + store.bytes() + ", before " + before);
    }

    @Test
    void samplingIsUniformOverUnevenCells() {
        long seed = 42;
        SplittableRandom random = new SplittableRandom(seed);
        int cells = 40;
        store = new EntryStore(cells, new Regions(), budget, new BackLinks());
        int[] draws = new int[4_000];
        List<Long> live = new ArrayList<>();
        for (long location = 0; location < draws.length; location++) {
            // Cell 0 gets most, the others a few each: chunks of all fillings.
            int cell = location % 3 == 0 ? random.nextInt(cells) : 0;
            entries.put(location, store.add(cell, location));
        }
        for (long location = 0; location < draws.length; location++) {
            if (random.nextInt(4) == 0) {
                store.remove(forget(location));
            } else {
                live.add(location);
            }
        }
        int perEntry = 200;
        for (int i = 0; i < live.size() * perEntry; i++) {
            draws[(int) store.location(store.sample(random.nextLong()))]++;
        }
        double chiSquare = 0;
        for (long location : live) {
            double off = draws[(int) location] - perEntry;
            chiSquare += off * off / perEntry;
        }
        // Chi-square with k degrees of freedom has mean k and variance 2k; six deviations never happen by chance.
        double degrees = live.size() - 1;
        assertTrue(Math.abs(chiSquare - degrees) < 6 * Math.sqrt(2 * degrees),
                "chi-square " + chiSquare + " for " + degrees);
    }

    private void remove(int cells, List<Long> live, SplittableRandom random) {
        int at = random.nextInt(live.size());
        long location = live.get(at);
        int cell = (int) (location % cells);
        if (random.nextInt(4) == 0) {
            location = store.last(cell);
            at = live.indexOf(location);
            store.removeLast(cell);
            forget(location);
        } else {
            assertEquals(cell, store.remove(forget(location)));
        }
        live.set(at, live.getLast());
        live.removeLast();
    }

    private int forget(long location) {
        return Objects.requireNonNull(entries.remove(location), "no such entry");
    }

    private void compact() {
        int steps = 0;
        while (store.compactStep()) {
            steps++;
            assertTrue(steps < 100_000, "compaction ends");
        }
    }

    private void check(int cells, String when) {
        List<String> problems = new ArrayList<>();
        Set<Long> seen = new HashSet<>();
        store.checkIntegrity((cell, entry, location) -> {
            assertTrue(seen.add(location), when);
            assertEquals(cell, (int) (location % cells), when);
            assertEquals(entries.get(location), entry, when);
        }, problems::add);
        assertEquals(List.of(), problems, when);
        assertEquals(entries.keySet(), seen, when);
        assertEquals(entries.size(), store.size(), when);
        assertEquals(store.bytes(), budget.chargedBytes(), when);
        assertEquals(entries.isEmpty(), store.sample(1) < 0, when);
        entries.forEach((location, entry) -> {
            assertEquals(location, store.location(entry), when);
            assertFalse(store.isEmpty(store.cellOf(entry)), when);
        });
    }

    /** Records where entries move. Confined to the test's thread. */
    private final class BackLinks implements ExpiryOwner {
        @Override
        public long expireAtMillis(long location) {
            throw new AssertionError("a store asks for no times");
        }

        @Override
        public void entryMoved(long location, int entry) {
            Integer previous = entries.put(location, entry);
            assertTrue(previous != null && previous != entry, "moved from " + previous + " to " + entry);
        }

        @Override
        public void expire(long location) {
            throw new AssertionError("a store lets nothing go");
        }
    }
}
