package io.varve.flash.policy;

import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compares the policies that store each key, victim by victim, with the simplest possible model of each. Confined to
 * the test's thread.
 */
class IndexedPolicyTest {
    private static final int CAPACITY = 60;
    private static final int OPERATIONS = 40_000;

    /** A policy in objects. */
    private interface Model {
        void hit(long key);

        void inserted(long key);

        void removed(long key);

        long evict();
    }

    private static final class Lru implements Model {
        private final Set<Long> order = new LinkedHashSet<>();

        @Override
        public void hit(long key) {
            order.remove(key);
            order.add(key);
        }

        @Override
        public void inserted(long key) {
            order.add(key);
        }

        @Override
        public void removed(long key) {
            order.remove(key);
        }

        @Override
        public long evict() {
            long oldest = order.iterator().next();
            order.remove(oldest);
            return oldest;
        }
    }

    /**
     * Places in a row, the lowest free one taken last of all that are free: those that were left last are taken first.
     */
    private static final class Clock implements Model {
        private final boolean markInserted;
        private final Map<Long, Integer> places = new HashMap<>();
        private final Map<Integer, Long> keys = new HashMap<>();
        private final TreeSet<Integer> taken = new TreeSet<>();
        private final Set<Long> used = new LinkedHashSet<>();
        private final Deque<Integer> free = new ArrayDeque<>();
        private int fresh;
        private int hand;

        private Clock(boolean markInserted) {
            this.markInserted = markInserted;
        }

        @Override
        public void hit(long key) {
            used.add(key);
        }

        @Override
        public void inserted(long key) {
            int place = free.isEmpty() ? fresh++ : free.pop();
            places.put(key, place);
            keys.put(place, key);
            taken.add(place);
            if (markInserted) {
                used.add(key);
            }
        }

        @Override
        public void removed(long key) {
            int place = Objects.requireNonNull(places.remove(key));
            keys.remove(place);
            taken.remove(place);
            used.remove(key);
            free.push(place);
        }

        @Override
        public long evict() {
            while (true) {
                Integer place = taken.ceiling(hand);
                if (place == null) {
                    hand = 0;
                    continue;
                }
                hand = place + 1;
                long key = Objects.requireNonNull(keys.get(place));
                if (!used.remove(key)) {
                    removed(key);
                    return key;
                }
            }
        }
    }

    private static final class Sieve implements Model {
        /** From the oldest to the newest. */
        private final List<Long> arrivals = new ArrayList<>();
        private final Set<Long> visited = new LinkedHashSet<>();
        /** The key under the hand; null at the tail. */
        private @Nullable Long hand;

        @Override
        public void hit(long key) {
            visited.add(key);
        }

        @Override
        public void inserted(long key) {
            arrivals.add(key);
        }

        private @Nullable Long behind(int at) {
            return at + 1 < arrivals.size() ? arrivals.get(at + 1) : null;
        }

        @Override
        public void removed(long key) {
            if (hand != null && hand == key) {
                hand = behind(arrivals.indexOf(key));
            }
            arrivals.remove(key);
            visited.remove(key);
        }

        @Override
        public long evict() {
            int at = hand == null ? 0 : arrivals.indexOf(hand);
            while (visited.remove(arrivals.get(at))) {
                at = (at + 1) % arrivals.size();
            }
            long key = arrivals.get(at);
            hand = behind(at);
            arrivals.remove(key);
            return key;
        }
    }

    private static final class S3Fifo implements Model {
        private final Set<Long> small = new LinkedHashSet<>();
        private final Set<Long> main = new LinkedHashSet<>();
        private final Set<Long> ghosts = new LinkedHashSet<>();
        private final Map<Long, Integer> uses = new LinkedHashMap<>();

        @Override
        public void hit(long key) {
            uses.merge(key, 1, (had, one) -> Math.min(3, had + one));
        }

        @Override
        public void inserted(long key) {
            uses.put(key, 0);
            (ghosts.remove(key) ? main : small).add(key);
        }

        @Override
        public void removed(long key) {
            small.remove(key);
            main.remove(key);
            uses.remove(key);
        }

        private static long first(Set<Long> queue) {
            long key = queue.iterator().next();
            queue.remove(key);
            return key;
        }

        @Override
        public long evict() {
            while (true) {
                boolean fromSmall = small.size() >= CAPACITY / 10 || main.isEmpty();
                long key = first(fromSmall ? small : main);
                int used = Objects.requireNonNull(uses.get(key));
                if (used > (fromSmall ? 1 : 0)) {
                    uses.put(key, fromSmall ? 0 : used - 1);
                    main.add(key);
                    continue;
                }
                uses.remove(key);
                if (fromSmall) {
                    if (ghosts.size() >= CAPACITY - CAPACITY / 10) {
                        first(ghosts);
                    }
                    ghosts.add(key);
                }
                return key;
            }
        }
    }

    private static Model model(Policies policy) {
        return switch (policy) {
            case LRU -> new Lru();
            case CLOCK -> new Clock(false);
            case CLOCK_MARKED -> new Clock(true);
            case SIEVE -> new Sieve();
            case S3_FIFO -> new S3Fifo();
            default -> throw new AssertionError(policy);
        };
    }

    @ParameterizedTest
    @EnumSource(names = {"LRU", "CLOCK", "CLOCK_MARKED", "SIEVE", "S3_FIFO"})
    void takesTheVictimsThatTheModelTakes(Policies kind) {
        SplittableRandom random = new SplittableRandom(kind.name().hashCode());
        ReplacementPolicy policy = kind.create(Arena.ofAuto(), CAPACITY, random.split());
        Model model = model(kind);
        Set<Long> cached = new LinkedHashSet<>();
        int victims = 0;
        for (int i = 0; i < OPERATIONS; i++) {
            // Small numbers are requested more often.
            long key = (random.nextInt(150) * (long) random.nextInt(150) / 75 + 1) * 0x9E37_79B9_7F4A_7C15L;
            if (cached.contains(key)) {
                if (random.nextInt(40) == 0) {
                    cached.remove(key);
                    policy.removed(key);
                    model.removed(key);
                } else {
                    policy.hit(key);
                    model.hit(key);
                }
                continue;
            }
            policy.hit(key);
            policy.removed(key);
            if (cached.size() == CAPACITY) {
                assertThat(policy.findVictim(new ListHand(new ArrayList<>(), 1))).isTrue();
                assertThat(policy.victim()).as("operation %d", i).isEqualTo(model.evict());
                assertThat(cached.remove(policy.victim())).isTrue();
                victims++;
            }
            cached.add(key);
            policy.inserted(key);
            model.inserted(key);
        }
        assertThat(victims).isGreaterThan(OPERATIONS / 20);
        assertThat(policy.keysTraversed()).isGreaterThanOrEqualTo(victims);
    }
}
