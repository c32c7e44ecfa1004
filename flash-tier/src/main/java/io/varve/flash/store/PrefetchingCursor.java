package io.varve.flash.store;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collection;

/**
 * A cursor that prefetches some keys and holds no resource of the library in between. Confined to one thread at a time.
 * An open library cursor would pin pages in memory, and would not survive reopened files.
 */
public abstract class PrefetchingCursor implements KeyCursor {
    /** Few keys: each may be removed by the time it is visited. */
    private static final int AHEAD = 16;
    private static final byte[] FIRST = {};

    private final ArrayDeque<byte[]> ahead = new ArrayDeque<>(AHEAD);
    /** The start of the next read. */
    private byte[] from = FIRST;
    private byte[] key = FIRST;

    /**
     * Reads keys, without their values, in the store's own order.
     *
     * @param first no key before this one
     * @param max maximum number of keys; fewer means that they are the last
     */
    protected abstract Collection<byte[]> read(byte[] first, int max);

    @Override
    public final boolean next() {
        if (ahead.isEmpty()) {
            ahead.addAll(read(from, AHEAD));
        }
        byte[] next = ahead.poll();
        if (next == null) {
            from = FIRST;
            return false;
        }
        key = next;
        if (ahead.isEmpty()) {
            // The position after the key: nothing lies between a key and itself with an appended zero.
            from = Arrays.copyOf(next, next.length + 1);
        }
        return true;
    }

    @Override
    public final byte[] key() {
        return key;
    }

    @Override
    public final void seek(byte[] first) {
        ahead.clear();
        from = first.clone();
    }
}
