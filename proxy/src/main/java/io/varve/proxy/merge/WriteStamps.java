package io.varve.proxy.merge;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

import io.varve.memory.offheap.Memory;

/**
 * Says whether a write to a key has been in flight through this proxy in a period. Thread-safe: all event loops share
 * it.
 *
 * <p>Each stripe of keys has one word: the number of writes in flight, and above it the number of writes begun. If the
 * word is equal at two times and had no write in flight, no write was in flight in between. A write that names no key,
 * such as FLUSHALL, counts in a word of its own, which every read compares.
 *
 * <pre>
 *  63                     24 23            0
 *  +------------------------+--------------+
 *  | writes begun           | in flight    |
 *  +------------------------+--------------+
 * </pre>
 */
public final class WriteStamps {
    /** 64 KB of words, which stay in a core's cache: each read needs one. */
    private static final int STRIPE_BITS = 13;
    private static final int STRIPES = 1 << STRIPE_BITS;
    private static final int IN_FLIGHT_BITS = 24;
    private static final long IN_FLIGHT_MASK = (1L << IN_FLIGHT_BITS) - 1;
    private static final long BEGUN = (1L << IN_FLIGHT_BITS) + 1;
    private static final long MULTIPLIER = 0x9E3779B97F4A7C15L;

    private final AtomicLongArray stripes = new AtomicLongArray(STRIPES);
    private final AtomicLong everything = new AtomicLong();

    /** The stripe of a key. */
    public static int stripe(long address, int length) {
        return stripe(hash(address, length));
    }

    /** The stripe of a key with this hash. */
    static int stripe(int hash) {
        return hash >>> Integer.SIZE - STRIPE_BITS;
    }

    /** A hash of a key, eight bytes at a time. */
    static int hash(long address, int length) {
        long hash = length;
        int at = 0;
        for (; at <= length - Long.BYTES; at += Long.BYTES) {
            hash = mixed(hash ^ Memory.getLong(address + at));
        }
        if (at < length) {
            hash = mixed(hash ^ rest(address, at, length));
        }
        return (int) (hash >>> Integer.SIZE);
    }

    /** The last bytes of a key, fewer than eight. */
    private static long rest(long address, int from, int length) {
        if (length >= Long.BYTES) {
            return Memory.getLong(address + length - Long.BYTES);
        }
        long rest = 0;
        for (int i = from; i < length; i++) {
            rest = rest << Byte.SIZE | Memory.getByte(address + i) & 0xFF;
        }
        return rest;
    }

    private static long mixed(long bits) {
        long product = bits * MULTIPLIER;
        return product ^ product >>> Integer.SIZE;
    }

    /** A write to keys of these stripes begins: called before it is sent. Empty: it may write to any key. */
    public Write begin(int[] keys) {
        for (int key : keys) {
            stripes.addAndGet(key, BEGUN);
        }
        if (keys.length == 0) {
            everything.addAndGet(BEGUN);
        }
        return new Write(keys);
    }

    long stamp(int stripe) {
        return stripes.get(stripe);
    }

    long stampOfEverything() {
        return everything.get();
    }

    static boolean isQuiet(long stamp) {
        return (stamp & IN_FLIGHT_MASK) == 0;
    }

    /** A write in flight. Confined to the event loop of its client. */
    public final class Write {
        private final int[] keys;

        private Write(int[] keys) {
            this.keys = keys;
        }

        /** The write has ended: called once, before its client gets the reply. */
        public void end() {
            for (int key : keys) {
                stripes.decrementAndGet(key);
            }
            if (keys.length == 0) {
                everything.decrementAndGet();
            }
        }
    }
}
