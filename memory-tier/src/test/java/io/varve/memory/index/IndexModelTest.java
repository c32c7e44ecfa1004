package io.varve.memory.index;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ThreadLocalRandom;

import io.varve.memory.index.vector.TagScanners;
import io.varve.memory.offheap.MemoryBudget;
import io.varve.memory.offheap.Regions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Random operations on an index, compared with a plain map after each. Confined to the test's thread. */
class IndexModelTest {
    private static final int KEYS = 3_000;
    private static final int LOCATIONS = 8_192;
    private static final int OPERATIONS = 48_000;
    private static final int CHECK_EVERY = 1_500;

    /** The distribution of the keys' hashes. */
    enum Hashes {
        NORMAL {
            @Override
            long of(long key) {
                return mix(key);
            }
        },
        FEW_TAGS {
            @Override
            long of(long key) {
                return mix(key) & ~0xFFFFL | key & 3;
            }
        },
        FEW_HOMES {
            @Override
            long of(long key) {
                return (mix(key) & 0xFFFF) | (key % 5) * 13 << 16;
            }
        },
        LOW_HOMES_EQUAL {
            @Override
            long of(long key) {
                return mix(key) & ~(0xFFL << 16);
            }
        },
        FEW_HASHES {
            @Override
            long of(long key) {
                return mix(key % 7);
            }
        },
        HALF_CHOSEN {
            @Override
            long of(long key) {
                return (key & 1) == 0 ? mix(key) : mix(key) & 0xFFFFL;
            }
        };

        abstract long of(long key);

        private static long mix(long key) {
            return new SplittableRandom(key).nextLong();
        }
    }

    private final Regions regions = new Regions();
    private final MemoryBudget budget = new MemoryBudget(1L << 30);
    private final FakeItems items = new FakeItems(regions, LOCATIONS);
    private final Map<Long, Long> model = new HashMap<>();
    private final ArrayDeque<Long> freeLocations = new ArrayDeque<>();

    @ParameterizedTest
    @EnumSource(Hashes.class)
    void agreesWithAMap(Hashes hashes) {
        long seed = ThreadLocalRandom.current().nextLong();
        System.out.println("IndexModelTest " + hashes + " seed " + seed);
        run(hashes, new SplittableRandom(seed));
    }

    private void run(Hashes hashes, SplittableRandom random) {
        for (long location = 0; location < LOCATIONS; location++) {
            freeLocations.add(location);
        }
        double growLoad = 0.5 + random.nextDouble() * 0.37;
        TagScanner scanner = random.nextBoolean() ? new ScalarTagScanner() : TagScanners.best();
        Index index = new Index(items, scanner, regions, budget, growLoad);
        int insertShare = 60;
        for (int i = 0; i < OPERATIONS; i++) {
            if (i % (OPERATIONS / 12) == 0) {
                insertShare = new int[] {80, 20, 50}[random.nextInt(3)];
            }
            step(index, hashes, random, insertShare);
            if (i % CHECK_EVERY == 0) {
                check(index);
            }
        }
        check(index);
        for (Map.Entry<Long, Long> entry : new ArrayList<>(model.entrySet())) {
            assertThat(index.remove(hashes.of(entry.getKey()), entry.getValue())).isTrue();
            model.remove(entry.getKey());
        }
        while (index.rehashStep(10)) {
            // until it is as small as it can be
        }
        check(index);
        assertThat(index.slots()).isEqualTo(64 * 7);
        index.release();
        assertThat(budget.chargedBytes()).isZero();
        items.release();
    }

    private void step(Index index, Hashes hashes, SplittableRandom random, int insertShare) {
        long key = random.nextInt(KEYS);
        long hash = hashes.of(key);
        Long expected = model.get(key);
        long found = index.find(hash, items.keyAddress(key), FakeItems.KEY_BYTES);
        assertThat(found).isEqualTo(expected == null ? Index.NONE : expected);
        int choice = random.nextInt(100);
        if (choice < 10) {
            index.rehashStep(1 + random.nextInt(4));
        } else if (choice < 10 + insertShare * 0.8) {
            long location = newLocation(key, hash);
            if (expected == null) {
                index.insert(hash, location);
            } else if (random.nextBoolean()) {
                index.replaceFound(location);
                freeLocations.add(expected);
            } else {
                assertThat(index.replace(hash, expected, location)).isTrue();
                freeLocations.add(expected);
            }
            model.put(key, location);
        } else if (expected != null) {
            if (random.nextBoolean()) {
                index.removeFound();
            } else {
                assertThat(index.contains(hash, expected)).isTrue();
                assertThat(index.remove(hash, expected)).isTrue();
                assertThat(index.remove(hash, expected)).isFalse();
            }
            model.remove(key);
            freeLocations.add(expected);
        } else {
            long elsewhere = freeLocations.getFirst();
            items.put(elsewhere, key, hash);
            assertThat(index.replace(hash, elsewhere, 0)).isFalse();
        }
    }

    private long newLocation(long key, long hash) {
        long location = freeLocations.removeFirst();
        items.put(location, key, hash);
        return location;
    }

    private void check(Index index) {
        List<String> problems = new ArrayList<>();
        index.checkIntegrity(problems::add);
        assertThat(problems).isEmpty();
        assertThat(index.size()).isEqualTo(model.size());
        assertThat(index.shape().entries()).isEqualTo(model.size());
        assertThat(index.bytes()).isEqualTo(budget.chargedBytes());
    }
}
