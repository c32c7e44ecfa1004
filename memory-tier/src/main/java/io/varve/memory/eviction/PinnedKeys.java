package io.varve.memory.eviction;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * The keys that commands use, which eviction must not remove. Thread-safe: each {@link Holder} has one writer, and any
 * thread reads.
 *
 * <p>A command that needs memory has items evicted before it takes its locks. Without pins, that eviction could remove
 * the very keys that the command names. Keys are known by their hashes, so a key with the same name in another database
 * is pinned too.
 *
 * <p>A pin that is set while its key is being evicted has no effect on that eviction. The result is the same as if the
 * key had been evicted before the command reserved memory.
 */
public final class PinnedKeys {
    private static final Holder[] NONE = {};

    /** Replaced when a holder is added; holders are never removed, one for each thread that runs commands. */
    private volatile Holder[] holders = NONE;

    /** A holder for the keys of one thread's command. */
    public synchronized Holder newHolder() {
        Holder made = new Holder();
        Holder[] more = Arrays.copyOf(holders, holders.length + 1);
        more[holders.length] = made;
        holders = more;
        return made;
    }

    /** Whether any key is pinned now. It is cheap, for callers that would have to compute a hash. */
    public boolean isAny() {
        for (Holder holder : holders) {
            if (holder.one != 0 || holder.several != null) {
                return true;
            }
        }
        return false;
    }

    /** Whether a key with this hash is pinned; rarely also true for another key, if a command names several. */
    public boolean contains(long hash) {
        for (Holder holder : holders) {
            if (holder.contains(hash)) {
                return true;
            }
        }
        return false;
    }

    /** The pins of one thread. Single writer, that thread; many readers. */
    public static final class Holder {
        /** With several keys, the false-positive probability is less than their number divided by this. */
        private static final int MIN_BITS = 1 << 15;
        private static final int BITS_PER_KEY = 32;
        /**
         * ORDER: a release store is enough, and saves a fence for each command. The pinning thread then takes the lock
         * of the key's shard. A later eviction under that lock sees the pin. An earlier one removed the key before the
         * command looked it up.
         */
        private static final VarHandle ONE;
        private static final long SPREAD = 0x9E37_79B9_7F4A_7C15L;

        /** The hash of the single pinned key; 0 if there is none, or several. */
        private volatile long one;
        /**
         * A bit set with one bit for each hash of several keys; its length is a power of two. Null if there are none.
         */
        private volatile long @org.jspecify.annotations.Nullable [] several;
        /** Reused for successive commands with few keys. */
        private final long[] bits = new long[MIN_BITS / Long.SIZE];

        static {
            try {
                ONE = MethodHandles.lookup().findVarHandle(Holder.class, "one", long.class);
            } catch (ReflectiveOperationException impossible) {
                throw new ExceptionInInitializerError(impossible);
            }
        }

        private Holder() {}

        /** Pins one key, and unpins all others. */
        public void pin(long hash) {
            unpinSeveral();
            ONE.setRelease(this, hash);
        }

        /**
         * Begins to pin several keys, and unpins all others.
         *
         * @param count the number of keys
         * @return the set to {@link #add} them to, before {@link #pin(long[])}
         */
        public long[] begin(int count) {
            unpin();
            long wanted = Math.max(MIN_BITS, Long.highestOneBit((long) count * BITS_PER_KEY - 1) << 1);
            if (wanted > MIN_BITS) {
                return new long[(int) (wanted / Long.SIZE)];
            }
            Arrays.fill(bits, 0);
            return bits;
        }

        /** Adds a key to the set to be pinned. */
        public static void add(long[] bits, long hash) {
            int bit = bitOf(bits, hash);
            bits[bit >>> 6] |= 1L << bit;
        }

        /** Pins the keys that were added. */
        public void pin(long[] added) {
            several = added;
        }

        /** Unpins all keys. */
        public void unpin() {
            if (one != 0) {
                ONE.setRelease(this, 0L);
            }
            unpinSeveral();
        }

        private void unpinSeveral() {
            if (several != null) {
                several = null;
            }
        }

        private boolean contains(long hash) {
            if (one == hash) {
                return true;
            }
            long[] present = several;
            if (present == null) {
                return false;
            }
            int bit = bitOf(present, hash);
            return (present[bit >>> 6] & 1L << bit) != 0;
        }

        private static int bitOf(long[] bits, long hash) {
            return (int) (hash * SPREAD >>> Long.numberOfLeadingZeros(bits.length * (long) Long.SIZE - 1));
        }
    }
}
