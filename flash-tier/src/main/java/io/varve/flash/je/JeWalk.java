package io.varve.flash.je;

import java.util.ArrayDeque;
import java.util.Arrays;

import com.sleepycat.je.Cursor;
import com.sleepycat.je.CursorConfig;
import com.sleepycat.je.DatabaseEntry;
import com.sleepycat.je.LockMode;
import com.sleepycat.je.OperationStatus;
import io.varve.flash.store.KeyWalk;

/**
 * Reads some keys ahead with a cursor, without their values and without locks, and closes it: an open cursor would keep a page
 * in memory and would not outlive the environment. Confined to one thread at a time.
 */
final class JeWalk implements KeyWalk {
    /** Few: each may be gone when it is looked at. */
    private static final int AHEAD = 16;
    private static final byte[] FIRST = {};

    private final JeStore store;
    private final ArrayDeque<byte[]> ahead = new ArrayDeque<>(AHEAD);
    /** What the next reading begins with. */
    private byte[] from = FIRST;
    private byte[] key = FIRST;

    JeWalk(JeStore store) {
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
        store.call("walk", opened -> {
            ahead.clear();
            DatabaseEntry found = new DatabaseEntry(from);
            DatabaseEntry nothing = new DatabaseEntry();
            nothing.setPartial(0, 0, true);
            try (Cursor cursor = opened.database().openCursor(null, CursorConfig.READ_UNCOMMITTED)) {
                OperationStatus status = cursor.getSearchKeyRange(found, nothing, LockMode.READ_UNCOMMITTED);
                while (status == OperationStatus.SUCCESS && ahead.size() < AHEAD) {
                    ahead.add(found.getData());
                    status = cursor.getNext(found, nothing, LockMode.READ_UNCOMMITTED);
                }
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
