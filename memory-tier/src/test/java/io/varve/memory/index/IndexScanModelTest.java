package io.varve.memory.index;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ThreadLocalRandom;

import io.varve.memory.offheap.MemoryBudget;
import io.varve.memory.offheap.Regions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests scans while entries are added and removed and the tables grow and shrink between the calls. Confined to the
 * test's thread. A scan reports an entry that is present throughout, reports one that was not added again only once,
 * and reports no missing one.
 */
class IndexScanModelTest {
    private static final int LOCATIONS = 2_500;
    private static final int SCANS = 20;

    private static final int MIN_RESIZES = 5;

    private final Regions regions = new Regions();
    private final MemoryBudget budget = new MemoryBudget(1L << 30);
    private final FakeItems items = new FakeItems(regions, LOCATIONS);
    private final Set<Long> present = new HashSet<>();
    private final long[] hashes = new long[LOCATIONS];

    /** The share of entries whose home bits are chosen, so that extension and overflow take part. */
    @ParameterizedTest
    @ValueSource(doubles = {0, 0.1, 0.5})
    void aScanReturnsEveryItemThatStays(double chosenShare) {
        long seed = ThreadLocalRandom.current().nextLong();
        System.out.println("IndexScanModelTest " + chosenShare + " seed " + seed);
        SplittableRandom random = new SplittableRandom(seed);
        for (int location = 0; location < LOCATIONS; location++) {
            long hash = random.nextLong();
            hashes[location] = random.nextDouble() < chosenShare ? hash & ~(0xFFFFFL << 16) : hash;
            items.put(location, location, hashes[location]);
        }
        Index index = new Index(items, new ScalarTagScanner(), regions, budget, 0.87);
        int resizes = 0;
        // Chance decides how often the index is resized: on until it has been a few times.
        for (int scan = 0; scan < SCANS || resizes <= MIN_RESIZES && scan < 20 * SCANS; scan++) {
            resizes += scanOnce(index, random, random.nextInt(LOCATIONS));
        }
        assertThat(resizes).isGreaterThan(MIN_RESIZES);
        index.checkIntegrity(problem -> {
            throw new AssertionError(problem);
        });
        index.release();
    }

    /** After any number of calls the index loses most of its entries and halves several times. */
    @Test
    void aHalvedTableRepeatsNoItem() {
        long seed = ThreadLocalRandom.current().nextLong();
        System.out.println("IndexScanModelTest halving, seed " + seed);
        SplittableRandom random = new SplittableRandom(seed);
        for (int location = 0; location < LOCATIONS; location++) {
            hashes[location] = random.nextLong();
            items.put(location, location, hashes[location]);
        }
        for (int calls = 1; calls < 100; calls++) {
            Index index = new Index(items, new ScalarTagScanner(), regions, budget, 0.87);
            for (int location = 0; location < LOCATIONS; location++) {
                index.insert(hashes[location], location);
            }
            finishRehash(index);
            long slots = index.slots();
            int[] times = new int[LOCATIONS];
            long cursor = 0;
            for (int call = 0; call < calls; call++) {
                cursor = index.scan(cursor, location -> times[(int) location]++);
            }
            int kept = LOCATIONS / 20;
            for (int location = kept; location < LOCATIONS; location++) {
                index.remove(hashes[location], location);
            }
            finishRehash(index);
            assertThat(index.slots()).isLessThan(slots);
            while (cursor != 0) {
                cursor = index.scan(cursor, location -> times[(int) location]++);
            }
            assertThat(Arrays.copyOf(times, kept)).as("after %s calls", calls).containsOnly(1);
            index.release();
        }
    }

    private static void finishRehash(Index index) {
        while (index.rehashStep(1024)) {
            assertThat(index.rehashing()).isTrue();
        }
    }

    /** A scan during which the number of entries moves towards {@code wanted}. */
    private int scanOnce(Index index, SplittableRandom random, int wanted) {
        Set<Long> stayed = new HashSet<>(present);
        Set<Long> reported = new HashSet<>();
        long cursor = 0;
        int resizes = 0;
        do {
            cursor = index.scan(cursor, location -> {
                if (!present.contains(location)) {
                    throw new AssertionError("location " + location + " is reported and not there");
                }
                assertThat(reported.add(location)).as("location %s is reported for the first time", location).isTrue();
            });
            int changes = random.nextInt(60);
            for (int i = 0; i < changes; i++) {
                boolean before = index.rehashing();
                change(index, random, stayed, reported, wanted);
                resizes += before != index.rehashing() ? 1 : 0;
            }
            if (random.nextInt(4) == 0) {
                index.rehashStep(random.nextInt(8));
            }
        } while (cursor != 0);
        stayed.removeAll(reported);
        assertThat(stayed).as("stayed and were not reported").isEmpty();
        return resizes;
    }

    private void change(Index index, SplittableRandom random, Set<Long> stayed, Set<Long> reported, int wanted) {
        long location = random.nextInt(LOCATIONS);
        boolean there = present.contains(location);
        boolean tooMany = present.size() > wanted;
        if (there && (tooMany || random.nextInt(10) == 0)) {
            assertThat(index.remove(hashes[(int) location], location)).isTrue();
            present.remove(location);
            stayed.remove(location);
        } else if (!there && (!tooMany || random.nextInt(10) == 0)) {
            index.insert(hashes[(int) location], location);
            present.add(location);
            reported.remove(location);
        }
    }
}
