package io.varve.flash.mvstore;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Iterator;

import io.varve.flash.store.KeyWalk;

/**
 * Reads some keys ahead from the map that has no values, and remembers where it stopped: an iterator that is kept would keep the
 * pages of its time. Confined to one thread at a time.
 */
final class MvWalk implements KeyWalk {
    /** Few: each may be gone when it is looked at. */
    private static final int AHEAD = 16;
    private static final byte[] FIRST = {};

    private final MvStore store;
    private final ArrayDeque<byte[]> ahead = new ArrayDeque<>(AHEAD);
    /** What the next reading begins with. */
    private byte[] from = FIRST;
    private byte[] key = FIRST;

    MvWalk(MvStore store) {
        this.store = store;
    }

    @Override
    public boolean next() {
        if (ahead.isEmpty()) {
            read();
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

    private void read() {
        store.call("walk", files -> {
            ahead.clear();
            Iterator<byte[]> keys = files.keys().keyIterator(from);
            while (keys.hasNext() && ahead.size() < AHEAD) {
                ahead.add(keys.next());
            }
            return true;
        });
    }

    @Override
    public byte[] key() {
        return key;
    }

    @Override
    public void seek(byte[] first) {
        ahead.clear();
        from = first.clone();
    }
}
