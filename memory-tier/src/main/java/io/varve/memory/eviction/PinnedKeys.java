package io.varve.memory.eviction;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * The keys that commands work on, which eviction spares. Thread-safe: each {@link Holder} has one writer, and any thread asks.
 *
 * <p>A command that needs memory makes room before it takes its locks, and without this the room could be made out of the very
 * keys that it names. Keys are known by their hashes, so a key of another database with the same name is spared as well.
 *
 * <p>A pin that is set while an eviction of its key is under way comes too late for it. That is as if the key had been evicted
 * before the command asked for room.
 */
public final class PinnedKeys {
    private static final Holder[] NONE = {};

    /** Replaced when a holder comes; holders stay, as many as threads run commands. */
    private volatile Holder[] holders = NONE;

    /** A place for the keys of one thread's command. */
    public synchronized Holder newHolder() {
        Holder made = new Holder();
        Holder[] more = Arrays.copyOf(holders, holders.length + 1);
        more[holders.length] = made;
        holders = more;
        return made;
    }

    /** Whether any key is pinned now. Cheap, for callers that would have to compute a hash. */
    public boolean isAny() {
        for (Holder holder : holders) {
            if (holder.one != 0 || holder.several != null) {
                return true;
            }
        }
        return false;
    }

    /** Whether a key of this hash is pinned; rarely true of another key, where a command names several. */
    public boolean contains(long hash) {
        for (Holder holder : holders) {
            if (holder.contains(hash)) {
                return true;
            }
        }
        return false;
    }

    /** What one thread has pinned. Single writer, that thread; many readers. */
    public static final class Holder {
        /** Another key is taken for one of so many in fewer than one case in so many divided by their number. */
        private static final int LEAST_BITS = 1 << 15;
        private static final int BITS_PER_KEY = 32;
        /**
         * ORDER: a release store is enough, and saves a fence for each command. The pinning thread then takes the lock
         * of the key's shard. An eviction under that lock sees the pin if it comes later; if it comes earlier, the key
         * has gone before the command looked for it.
         */
        private static final VarHandle ONE;
        private static final long SPREAD = 0x9E37_79B9_7F4A_7C15L;

        /** The hash of the one key that is pinned; 0 if there is none, or several. */
        private volatile long one;
        /** One bit for each hash of several keys; a power of two long. Null if there are none. */
        private volatile long @org.jspecify.annotations.Nullable [] several;
        /** Kept from command to command if it is short. */
        private final long[] bits = new long[LEAST_BITS / Long.SIZE];

        static {
            try {
                ONE = MethodHandles.lookup().findVarHandle(Holder.class, "one", long.class);
            } catch (ReflectiveOperationException impossible) {
                throw new ExceptionInInitializerError(impossible);
            }
        }

        private Holder() {}

        /** Pins one key in place of what was pinned. */
        public void pin(long hash) {
            unpinSeveral();
            ONE.setRelease(this, hash);
        }

        /**
         * Begins to pin several keys in place of what was pinned.
         *
         * @param count how many they are
         * @return where to {@link #add} them, before {@link #pin(long[])}
         */
        public long[] begin(int count) {
            unpin();
            long wanted = Math.max(LEAST_BITS, Long.highestOneBit((long) count * BITS_PER_KEY - 1) << 1);
            if (wanted > LEAST_BITS) {
                return new long[(int) (wanted / Long.SIZE)];
            }
            Arrays.fill(bits, 0);
            return bits;
        }

        /** Adds a key to those that are about to be pinned. */
        public static void add(long[] bits, long hash) {
            int bit = bitOf(bits, hash);
            bits[bit >>> 6] |= 1L << bit;
        }

        /** Pins the keys that were added. */
        public void pin(long[] added) {
            several = added;
        }

        /** Nothing is pinned. */
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
