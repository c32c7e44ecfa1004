package io.varve.flash.tier;

import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;

import io.varve.flash.bloom.BloomFilter;

/** Which of the items that fall are taken: each that is wears the device. Many threads. */
@FunctionalInterface
public interface Admission {
    /** Whether it is taken. */
    boolean admits(long identity);

    /** What is kept for it, in bytes. */
    default long ramBytes() {
        return 0;
    }

    /** The policies by name. */
    enum Kind {
        /** Everything. */
        ALL,
        /** What has fallen before, not long ago: an item that falls once and is never asked for again is not written. */
        REJECT_FIRST,
        /** Each with the same probability. */
        PROBABILITY;

        /** As settings call it: in lower case, with hyphens. */
        public String optionName() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }

        /** @throws IllegalArgumentException with all that there are, if there is none of this name */
        public static Kind of(String name) {
            return Arrays.stream(values()).filter(kind -> kind.optionName().equals(name)).findFirst()
                    .orElseThrow(() -> new IllegalArgumentException("There is no admission '" + name + "': allowed are "
                            + String.join(", ", Arrays.stream(values()).map(Kind::optionName).toList())));
        }

        /**
         * @param items       that the tier holds
         * @param probability with which an item is taken, where that is left to chance
         */
        Admission create(Arena arena, long items, double probability) {
            return switch (this) {
                case ALL -> _ -> true;
                case REJECT_FIRST -> new RejectFirst(arena, items);
                case PROBABILITY -> _ -> ThreadLocalRandom.current().nextDouble() < probability;
            };
        }
    }

    /** Remembers what fell, as many as the tier holds at the most, then forgets everything. */
    final class RejectFirst implements Admission {
        private static final int BITS_PER_ITEM = 4;
        private static final int HASHES = 3;

        private final BloomFilter fallen;
        private final long items;
        private final AtomicLong remembered = new AtomicLong();

        private RejectFirst(Arena arena, long items) {
            this.items = items;
            fallen = new BloomFilter(arena, items * BITS_PER_ITEM, HASHES);
        }

        @Override
        public boolean admits(long identity) {
            if (fallen.mightContain(identity)) {
                return true;
            }
            if (remembered.incrementAndGet() % items == 0) {
                fallen.clear();
            }
            fallen.add(identity);
            return false;
        }

        @Override
        public long ramBytes() {
            return fallen.ramBytes();
        }
    }
}
