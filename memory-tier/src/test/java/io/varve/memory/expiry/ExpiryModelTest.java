package io.varve.memory.expiry;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Random adds, moves, removes, relocations, slices and clock jumps against a map, with rings so small that wrapping,
 * conflicts and every far level occur all the time. Confined to the test's thread.
 */
class ExpiryModelTest {
    private static final int BATCHES = 150;
    private static final int OPERATIONS_PER_BATCH = 60;

    static Stream<Arguments> settings() {
        List<Arguments> all = new ArrayList<>();
        for (ExpireAlgorithm algorithm : ExpireAlgorithm.values()) {
            for (int buckets : new int[] {2, 3, 7, 120}) {
                for (int baseMillis : new int[] {1, 10, 1000}) {
                    all.add(Arguments.of(algorithm, baseMillis, buckets));
                }
            }
        }
        return all.stream();
    }

    @ParameterizedTest
    @MethodSource("settings")
    void agreesWithAMap(ExpireAlgorithm algorithm, int baseMillis, int buckets) {
        long seed = new SplittableRandom().nextLong();
        System.out.println("ExpiryModelTest seed " + seed);
        new Model(algorithm, baseMillis, buckets, seed).run();
    }

    /** One run. Confined to the test's thread. */
    private static final class Model {
        private final SplittableRandom random;
        private final FakeItems items;
        private final ExpireAlgorithm algorithm;
        private final int baseMillis;
        private final int buckets;
        private final String name;

        /** Locations with an item, for a uniform choice. */
        private final List<Long> live = new ArrayList<>();

        private long nextLocation = 1;

        Model(ExpireAlgorithm algorithm, int baseMillis, int buckets, long seed) {
            this.algorithm = algorithm;
            this.baseMillis = baseMillis;
            this.buckets = buckets;
            random = new SplittableRandom(seed);
            items = new FakeItems(algorithm, baseMillis, buckets);
            items.nowMillis = random.nextBoolean() ? 1_700_000_000_000L : random.nextLong(10L * baseMillis);
            name = algorithm + " BASE " + baseMillis + " NUM_BUCKETS " + buckets + " seed " + seed;
        }

        void run() {
            for (int batch = 0; batch < BATCHES; batch++) {
                String when = "in batch " + batch + " of " + name;
                moveClock();
                for (int i = 0; i < OPERATIONS_PER_BATCH; i++) {
                    operate();
                }
                items.check(when);
                dueIsCounted(when);
                runCycle(when);
                items.check(when);
                dueIsCounted(when);
            }
            everythingEnds();
        }

        private void operate() {
            int kind = random.nextInt(10);
            if (kind < 5 || live.isEmpty()) {
                long location = nextLocation++;
                items.set(location, expireAt());
                live.add(location);
                return;
            }
            int at = random.nextInt(live.size());
            long location = live.get(at);
            if (kind < 7) {
                items.set(location, expireAt());
            } else if (kind < 8) {
                long to = nextLocation++;
                items.relocate(location, to);
                live.set(at, to);
            } else {
                items.remove(location);
                live.set(at, live.getLast());
                live.removeLast();
            }
        }

        /** Mostly within a few turns of the ring; some past, some on each far level, some at the very end. */
        private long expireAt() {
            long turn = (long) baseMillis * buckets;
            long time = switch (random.nextInt(8)) {
                case 0 -> items.nowMillis - random.nextLong(2 * turn);
                case 1 -> items.nowMillis + (1L << random.nextInt(48));
                case 2 -> Expiry.MAX_MILLIS - random.nextLong(turn);
                case 3 -> items.nowMillis + random.nextLong(turn * buckets);
                default -> items.nowMillis + random.nextLong(3 * turn);
            };
            return Math.clamp(time, 0, Expiry.MAX_MILLIS);
        }

        private void moveClock() {
            long turn = (long) baseMillis * buckets;
            long step = switch (random.nextInt(12)) {
                case 0 -> -random.nextLong(4 * turn);
                case 1 -> random.nextLong(turn * buckets);
                case 2 -> 1L << random.nextInt(40);
                case 3 -> -(1L << random.nextInt(40));
                default -> random.nextLong(2L * baseMillis);
            };
            items.nowMillis = Math.clamp(items.nowMillis + step, 0, Expiry.MAX_MILLIS);
        }

        private void runCycle(String when) {
            items.expiry.beginCycle(items.nowMillis);
            if (random.nextInt(3) == 0) {
                // A cycle in slices with operations between them, perhaps given up.
                items.nanosPerExpire = 1;
                for (int slices = random.nextInt(20); slices > 0; slices--) {
                    CycleStatus status = items.expiry.runSlice(items.nowMillis, items.nanos + 1);
                    forgetExpired();
                    if (status == CycleStatus.DONE) {
                        break;
                    }
                    operate();
                    items.nowMillis = Math.max(0, items.nowMillis + random.nextLong(-baseMillis, 2L * baseMillis));
                }
                items.nanosPerExpire = 0;
                return;
            }
            assertEquals(CycleStatus.DONE, items.expiry.runSlice(items.nowMillis, FakeItems.NO_DEADLINE), when);
            forgetExpired();
            nothingIsLate(when);
        }

        private void dueIsCounted(String when) {
            long due = live.stream().filter(location -> items.expireAt(location) < items.nowMillis).count();
            DueCount whole = new DueCount();
            assertTrue(items.expiry.countDue(whole, items.nowMillis, FakeItems.NO_DEADLINE), when);
            assertEquals(due, whole.items(), when);
            DueCount sliced = new DueCount();
            boolean all = false;
            for (int slices = 0; !all; slices++) {
                assertTrue(slices <= live.size() + 1, "a slice counts something " + when);
                all = items.expiry.countDue(sliced, items.nowMillis, items.nanos - 1);
            }
            assertEquals(due, sliced.items(), when);
        }

        private void nothingIsLate(String when) {
            long passed = items.nowMillis / baseMillis;
            for (long location : live) {
                long time = items.expireAt(location) / baseMillis;
                boolean overflowed = algorithm != ExpireAlgorithm.WHEEL
                        && (algorithm == ExpireAlgorithm.RANDOM
                                || items.expiry.store.cellOf(items.entryOf(location)) == buckets);
                assertTrue(time >= passed || overflowed, () -> location + " is late " + when);
            }
        }

        private void forgetExpired() {
            if (!items.expired.isEmpty()) {
                items.expired.clear();
                live.removeIf(location -> !items.has(location));
            }
        }

        /** Once all times are past, cycles leave nothing: at once for the wheel, sooner or later by sampling. */
        private void everythingEnds() {
            for (long location : live) {
                if (items.expireAt(location) > Expiry.MAX_MILLIS - 2L * baseMillis) {
                    items.set(location, items.nowMillis);
                }
            }
            items.nowMillis = Expiry.MAX_MILLIS;
            int cycles = 0;
            do {
                items.cycle();
                cycles++;
            } while (items.count() > 0 && algorithm != ExpireAlgorithm.WHEEL && cycles < 1000);
            forgetExpired();
            items.check("at the end of " + name);
            assertEquals(0, items.count(), name);
            assertEquals(0, items.expiry.bytes(), name);
            items.expiry.release();
            assertEquals(0, items.budget.chargedBytes(), name);
        }
    }
}
