package io.varve.experiments.simulate;

import java.util.Arrays;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * Generated requests that stand for traces of block stores: equal in each run. Immutable.
 *
 * @param keys 100 or more
 * @param requests 0 or more
 */
public record PatternKeys(Pattern pattern, int keys, long requests) implements KeySource {
    private static final int MIN_KEYS = 100;
    private static final long SEED = 20130508;
    /** Skew of the popularity of keys by rank. */
    private static final double THETA = 0.9;
    /** Share of the keys that a loop reads one after the other. */
    private static final double LOOPED_KEYS = 0.5;
    /** Number of consecutive requests of a loop, as in a request for a large file. */
    private static final int LOOPED_REQUESTS = 32;
    /** Probability that such a series begins, which makes about a third of the requests part of one. */
    private static final double LOOP_BEGINS = 0.015;
    /** Share of the keys by which popularity moves. */
    private static final double SHIFTED_KEYS = 0.02;
    /** Number of requests for each key between two moves. */
    private static final double REQUESTS_PER_SHIFT = 0.25;

    /** The order of the requests. */
    public enum Pattern {
        /**
         * Two thirds of the requests are for popular keys. The others read half of the keys in their order, 32 at a
         * time, and start again at the end.
         */
        LOOPING,
        /** Each key has a popularity, which moves on to other keys with time. */
        SHIFTING;

        String optionName() {
            return name().toLowerCase(Locale.ROOT);
        }

        /** @throws IllegalArgumentException with all names, if this one is unknown */
        public static Pattern of(String name) {
            for (Pattern pattern : values()) {
                if (pattern.optionName().equals(name)) {
                    return pattern;
                }
            }
            throw new IllegalArgumentException("unknown pattern '" + name + "': expected "
                    + String.join(", ", Arrays.stream(values()).map(Pattern::optionName).toList()));
        }
    }

    public PatternKeys {
        if (keys < MIN_KEYS) {
            throw new IllegalArgumentException("A pattern has " + MIN_KEYS + " keys or more, not " + keys);
        }
    }

    @Override
    public KeyStream open() {
        return new Stream(pattern, keys, requests);
    }

    @Override
    public long distinctKeys() {
        return keys;
    }

    @Override
    public String describe() {
        return String.format(Locale.ROOT, "generated %s requests, %,d keys, %,d requests", pattern.optionName(), keys,
                requests);
    }

    /** Draws the requests. Confined to one thread. */
    private static final class Stream implements KeyStream {
        private final Pattern pattern;
        private final int keys;
        private final SplittableRandom random = new SplittableRandom(SEED);
        /** By rank: the probability of this rank and all before it. */
        private final double[] cumulative;
        private final int loopedKeys;
        private final long requestsPerShift;
        private long left;
        private long done;
        private int inLoop;
        private int loopAt;
        private long number;

        Stream(Pattern pattern, int keys, long requests) {
            this.pattern = pattern;
            this.keys = keys;
            left = requests;
            loopedKeys = (int) (keys * LOOPED_KEYS);
            requestsPerShift = Math.max(1, (long) (keys * REQUESTS_PER_SHIFT));
            cumulative = new double[pattern == Pattern.LOOPING ? keys - loopedKeys : keys];
            double sum = 0;
            for (int rank = 0; rank < cumulative.length; rank++) {
                sum += 1 / Math.pow(rank + 1.0, THETA);
                cumulative[rank] = sum;
            }
        }

        @Override
        public boolean next() {
            if (left == 0) {
                return false;
            }
            left--;
            number = pattern == Pattern.LOOPING ? looping() : shifting();
            done++;
            return true;
        }

        private long looping() {
            if (inLoop == 0 && random.nextDouble() < LOOP_BEGINS) {
                inLoop = LOOPED_REQUESTS;
            }
            if (inLoop == 0) {
                return (long) loopedKeys + rank();
            }
            inLoop--;
            int at = loopAt;
            loopAt = (loopAt + 1) % loopedKeys;
            return at;
        }

        private long shifting() {
            // The first ranks go to other keys, and the keys that had them are some ranks behind.
            long moved = done / requestsPerShift * Math.max(1, (long) (keys * SHIFTED_KEYS));
            return Math.floorMod(rank() - moved, (long) keys);
        }

        private int rank() {
            double drawn = random.nextDouble() * cumulative[cumulative.length - 1];
            int found = Arrays.binarySearch(cumulative, drawn);
            return Math.min(found >= 0 ? found + 1 : -found - 1, cumulative.length - 1);
        }

        @Override
        public long key() {
            return YcsbKeys.keyOf(number);
        }
    }
}
