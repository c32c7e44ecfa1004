package io.varve.flash.store;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collection;

/**
 * A walk that reads some keys ahead and holds nothing of the library in between: what it held open would keep pages in memory and
 * would not outlive the files. Confined to one thread at a time.
 */
public abstract class AheadWalk implements KeyWalk {
    /** Few: each may be gone when it is looked at. */
    private static final int AHEAD = 16;
    private static final byte[] FIRST = {};

    private final ArrayDeque<byte[]> ahead = new ArrayDeque<>(AHEAD);
    /** What the next reading begins with. */
    private byte[] from = FIRST;
    private byte[] key = FIRST;

    /**
     * Reads keys, without their values, in the store's own order.
     *
     * @param first none that is before this one
     * @param most  so many at the most; fewer are the last
     */
    protected abstract Collection<byte[]> read(byte[] first, int most);

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
            // Right behind the key: nothing lies between it and itself with a zero appended.
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
