package io.varve.server.migration;

import java.util.BitSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;

import io.varve.memory.item.Change;
import io.varve.memory.item.ChangeListener;
import io.varve.server.keys.HeapKey;
import io.varve.server.keys.KeyHashSlots;
import io.varve.server.resp.RequestHeapBudget;
import org.jspecify.annotations.Nullable;

/**
 * The keys of some slots that the receiver does not have as they are now: those that a scan has found, and those that
 * have changed. Guarded by its own monitor; changes come under the lock of the slots' shard.
 *
 * <p>A key is taken under the lock of its shard, before it is copied. So a change is in the copy, or the key is here
 * again.
 */
final class PendingKeys implements ChangeListener, AutoCloseable {
    private static final int DATABASE = 0;
    /** Heap bytes of a key, beside its own bytes. */
    private static final int KEY_OVERHEAD_BYTES = 128;

    private final BitSet slots;
    private final int shardNumber;
    private final RequestHeapBudget heap;
    private final Set<HeapKey> keys = new LinkedHashSet<>();
    private long reserved;
    private boolean isClosed;
    private @Nullable String broken;

    /**
     * @param slots all of one shard; nobody changes them
     * @param heap pays for the keys
     */
    PendingKeys(BitSet slots, int shard, RequestHeapBudget heap) {
        this.slots = slots;
        shardNumber = shard;
        this.heap = heap;
    }

    @Override
    public void changed(Change change, int shard, long sequence, int database, long keyAddress, int keyLength) {
        if (shard == shardNumber && database == DATABASE
                && slots.get(KeyHashSlots.INSTANCE.slot(keyAddress, keyLength))) {
            add(keyAddress, keyLength);
        }
    }

    @Override
    public void flushed(int database) {
        fail("the database was flushed");
    }

    private synchronized void fail(String reason) {
        broken = reason;
    }

    /** Adds a key. */
    synchronized void add(long keyAddress, int keyLength) {
        if (isClosed || broken != null) {
            return;
        }
        long bytes = bytes(keyLength);
        if (!heap.tryReserve(bytes)) {
            broken = "there is no heap for the names of the keys that change meanwhile";
            return;
        }
        if (keys.add(HeapKey.of(DATABASE, keyAddress, keyLength))) {
            reserved += bytes;
        } else {
            heap.release(bytes);
        }
    }

    private static long bytes(int keyLength) {
        return KEY_OVERHEAD_BYTES + HeapKey.heapBytes(keyLength);
    }

    synchronized int size() {
        return keys.size();
    }

    /** A key that is to be sent; null if there is none. */
    synchronized @Nullable HeapKey next() {
        Iterator<HeapKey> all = keys.iterator();
        return all.hasNext() ? all.next() : null;
    }

    /** Takes a key that is about to be copied. Its shard is locked. */
    synchronized void take(HeapKey key) {
        if (keys.remove(key)) {
            long bytes = bytes(key.name().length());
            reserved -= bytes;
            heap.release(bytes);
        }
    }

    /** Why the receiver has to begin anew; null if it need not. */
    synchronized @Nullable String broken() {
        return broken;
    }

    @Override
    public synchronized void close() {
        isClosed = true;
        keys.clear();
        heap.release(reserved);
        reserved = 0;
    }
}
