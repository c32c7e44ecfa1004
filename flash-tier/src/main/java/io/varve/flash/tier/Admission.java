package io.varve.flash.tier;

import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;

import io.varve.flash.bloom.BloomFilter;

/** Decides which demoted items are written to flash, since each write wears the device. Many threads. */
@FunctionalInterface
public interface Admission {
    /** Whether the item is taken. */
    boolean admits(long identity);

    /** Memory of the policy, in bytes. */
    default long ramBytes() {
        return 0;
    }

    /** The policies by name. */
    enum Kind {
        /** Takes everything. */
        ALL,
        /**
         * Takes items that were demoted before, not long ago: an item that is demoted once and never requested again is
         * not written.
         */
        REJECT_FIRST,
        /** Takes each item with equal probability. */
        PROBABILITY;

        /** The name in settings: in lower case, with hyphens. */
        public String optionName() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }

        /** @throws IllegalArgumentException with all names, if this one is unknown */
        public static Kind of(String name) {
            return Arrays.stream(values()).filter(kind -> kind.optionName().equals(name)).findFirst()
                    .orElseThrow(() -> new IllegalArgumentException("unknown admission '" + name + "': expected "
                            + String.join(", ", Arrays.stream(values()).map(Kind::optionName).toList())));
        }

        /**
         * @param items number of items that the tier holds
         * @param probability the probability of admission, for the random policy
         */
        Admission create(Arena arena, long items, double probability) {
            return switch (this) {
                case ALL -> _ -> true;
                case REJECT_FIRST -> new RejectFirst(arena, items);
                case PROBABILITY -> _ -> ThreadLocalRandom.current().nextDouble() < probability;
            };
        }
    }

    /** Remembers demoted items, at most as many as the tier holds, then forgets all of them. */
    final class RejectFirst implements Admission {
        private static final int BITS_PER_ITEM = 4;
        private static final int HASHES = 3;

        private final BloomFilter demotedOnce;
        private final long items;
        private final AtomicLong remembered = new AtomicLong();

        private RejectFirst(Arena arena, long items) {
            this.items = items;
            demotedOnce = new BloomFilter(arena, items * BITS_PER_ITEM, HASHES);
        }

        @Override
        public boolean admits(long identity) {
            if (demotedOnce.mightContain(identity)) {
                return true;
            }
            if (remembered.incrementAndGet() % items == 0) {
                demotedOnce.clear();
            }
            demotedOnce.add(identity);
            return false;
        }

        @Override
        public long ramBytes() {
            return demotedOnce.ramBytes();
        }
    }
}
