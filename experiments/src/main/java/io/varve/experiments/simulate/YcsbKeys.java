package io.varve.experiments.simulate;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;

import io.varve.flash.simulation.Popularity;
import site.ycsb.generator.CounterGenerator;
import site.ycsb.generator.NumberGenerator;
import site.ycsb.generator.ScrambledZipfianGenerator;
import site.ycsb.generator.SkewedLatestGenerator;
import site.ycsb.generator.UniformLongGenerator;

/**
 * Requests in the style of YCSB's core workload, with YCSB's own generators: a number is drawn from the distribution,
 * and redrawn while it is above the last key. Immutable. The generators use the thread's random source and cannot be
 * seeded.
 *
 * @param keys 1 or more
 * @param requests 0 or more
 * @param updates share of requests that read a key and then write it, 0 to 1
 */
public record YcsbKeys(Distribution distribution, int keys, long requests, double updates) implements KeySource {
    /** YCSB's {@code requestdistribution}. */
    public enum Distribution {
        ZIPFIAN, UNIFORM, LATEST;

        String optionName() {
            return name().toLowerCase(Locale.ROOT);
        }

        /** @throws IllegalArgumentException with all names, if this one is unknown */
        public static Distribution of(String name) {
            for (Distribution distribution : values()) {
                if (distribution.optionName().equals(name)) {
                    return distribution;
                }
            }
            throw new IllegalArgumentException("unknown distribution '" + name + "': expected "
                    + String.join(", ", Arrays.stream(values()).map(Distribution::optionName).toList()));
        }
    }

    @Override
    public KeyStream open() {
        NumberGenerator numbers = switch (distribution) {
            // The core workload adds the number of expected inserts, zero here, to an upper bound that is itself
            // inclusive.
            case ZIPFIAN -> new ScrambledZipfianGenerator(0, keys);
            case UNIFORM -> new UniformLongGenerator(0, keys - 1L);
            case LATEST -> new SkewedLatestGenerator(lastKey());
        };
        return new KeyStream() {
            private long left = requests;
            private long number;

            @Override
            public boolean next() {
                if (left == 0) {
                    return false;
                }
                left--;
                do {
                    number = numbers.nextValue().longValue();
                } while (number >= keys || number < 0);
                return true;
            }

            @Override
            public long key() {
                return keyOf(number);
            }

            @Override
            public boolean updates() {
                return updates > 0 && ThreadLocalRandom.current().nextDouble() < updates;
            }
        };
    }

    /** The key of a request for this number, 0 to keys - 1. */
    public static long keyOf(long number) {
        return Mixing.mix(number + 1);
    }

    /** A counter whose last value is that of the last key. */
    private CounterGenerator lastKey() {
        return new CounterGenerator(keys);
    }

    @Override
    public long distinctKeys() {
        return keys;
    }

    @Override
    public Optional<Popularity> popularity() {
        return Optional.of(switch (distribution) {
            case ZIPFIAN -> YcsbPopularity.scrambledZipfian(keys);
            case UNIFORM -> Popularity.uniform(keys);
            case LATEST -> YcsbPopularity.latest(keys);
        });
    }

    @Override
    public String describe() {
        return String.format(Locale.ROOT, "YCSB %s, %,d keys, %,d requests, %.0f %% of which also write the key",
                distribution.optionName(), keys, requests, 100 * updates);
    }
}
