package io.varve.flash.policy;

import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.Locale;
import java.util.random.RandomGenerator;

/** The policies by name, as settings and command lines spell them. Immutable. */
public enum Policies {
    /** Two Bloom sub-filters of 4 bits and 3 functions; keys are inserted unmarked. */
    TBF {
        @Override
        public ReplacementPolicy create(Arena arena, long capacity, RandomGenerator random) {
            return new TbfPolicy(arena, capacity, TbfPolicy.BITS, TbfPolicy.HASHES, false);
        }
    },
    /** TBF whose keys are inserted marked. */
    TBF_MARKED {
        @Override
        public ReplacementPolicy create(Arena arena, long capacity, RandomGenerator random) {
            return new TbfPolicy(arena, capacity, TbfPolicy.BITS, TbfPolicy.HASHES, true);
        }
    },
    /** TBF with half of the memory: two sub-filters of 2 bits and 2 functions. */
    TBF_HALF {
        @Override
        public ReplacementPolicy create(Arena arena, long capacity, RandomGenerator random) {
            return new TbfPolicy(arena, capacity, 2, 2, false);
        }
    },
    /** One Bloom filter of 8 bits and 5 functions, with deletion. */
    BFD {
        @Override
        public ReplacementPolicy create(Arena arena, long capacity, RandomGenerator random) {
            return new BfdPolicy(arena, capacity, BfdPolicy.BITS, BfdPolicy.HASHES, false, random);
        }
    },
    /** BFD whose keys are inserted marked. */
    BFD_MARKED {
        @Override
        public ReplacementPolicy create(Arena arena, long capacity, RandomGenerator random) {
            return new BfdPolicy(arena, capacity, BfdPolicy.BITS, BfdPolicy.HASHES, true, random);
        }
    },
    CLOCK {
        @Override
        public ReplacementPolicy create(Arena arena, long capacity, RandomGenerator random) {
            return new ClockPolicy(arena, capacity, false);
        }
    },
    /** CLOCK whose keys are inserted marked. */
    CLOCK_MARKED {
        @Override
        public ReplacementPolicy create(Arena arena, long capacity, RandomGenerator random) {
            return new ClockPolicy(arena, capacity, true);
        }
    },
    LRU {
        @Override
        public ReplacementPolicy create(Arena arena, long capacity, RandomGenerator random) {
            return new LruPolicy(arena, capacity);
        }
    },
    RANDOM {
        @Override
        public ReplacementPolicy create(Arena arena, long capacity, RandomGenerator random) {
            return new RandomPolicy(random);
        }
    },
    SIEVE {
        @Override
        public ReplacementPolicy create(Arena arena, long capacity, RandomGenerator random) {
            return new SievePolicy(arena, capacity);
        }
    },
    S3_FIFO {
        @Override
        public ReplacementPolicy create(Arena arena, long capacity, RandomGenerator random) {
            return new S3FifoPolicy(arena, capacity);
        }
    },
    NONE {
        @Override
        public ReplacementPolicy create(Arena arena, long capacity, RandomGenerator random) {
            return new NoPolicy();
        }
    };

    /**
     * @param arena owner of the policy's memory
     * @param capacity number of keys that the cache holds, 1 or more
     * @param random source of the randomized policies
     */
    public abstract ReplacementPolicy create(Arena arena, long capacity, RandomGenerator random);

    /** The name in lower case, with hyphens: {@code tbf}, {@code s3-fifo}. */
    public String optionName() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** @throws IllegalArgumentException with all names, if this one is unknown */
    public static Policies of(String name) {
        for (Policies policy : values()) {
            if (policy.optionName().equals(name)) {
                return policy;
            }
        }
        throw new IllegalArgumentException("unknown replacement policy '" + name + "': expected "
                + String.join(", ", Arrays.stream(values()).map(Policies::optionName).toList()));
    }
}
