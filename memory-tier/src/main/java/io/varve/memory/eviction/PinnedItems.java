package io.varve.memory.eviction;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Counts the items that are pinned until they are unpinned, and their bytes, by physical database. Thread-safe. Which
 * items are pinned is a bit in their headers.
 *
 * <p>They have nothing to do with {@link PinnedKeys}, which protects the keys of a command while it runs.
 */
public final class PinnedItems {
    private final AtomicLongArray keys;
    private final AtomicLongArray bytes;
    /** Whether any item was ever pinned. Without one, writes skip the bookkeeping. */
    private volatile boolean isUsed;

    /** @param databases the number of physical databases */
    public PinnedItems(int databases) {
        keys = new AtomicLongArray(databases);
        bytes = new AtomicLongArray(databases);
    }

    /**
     * Whether any item was ever pinned. It is exact for the items of a shard whose lock the caller holds: an item is
     * pinned under that lock.
     */
    public boolean isUsed() {
        return isUsed;
    }

    /**
     * Counts one more item, unless all of them would then take more than the limit.
     *
     * @param databases tells which databases count
     * @return false if they would; nothing is counted then
     */
    public synchronized boolean tryAdd(int database, long itemBytes, long maxBytes, Attached databases) {
        if (bytes(databases) + itemBytes > maxBytes) {
            return false;
        }
        keys.incrementAndGet(database);
        bytes.addAndGet(database, itemBytes);
        isUsed = true;
        return true;
    }

    /** Counts one item less. */
    public void remove(int database, long itemBytes) {
        keys.decrementAndGet(database);
        bytes.addAndGet(database, -itemBytes);
    }

    /** Counts a change of a pinned item's size. */
    public void grow(int database, long moreBytes) {
        if (moreBytes != 0) {
            bytes.addAndGet(database, moreBytes);
        }
    }

    /** The number of pinned items, without those of flushed databases. */
    public long keys(Attached databases) {
        return sum(keys, databases);
    }

    /** Bytes of the pinned items, without those of flushed databases. */
    public long bytes(Attached databases) {
        return sum(bytes, databases);
    }

    /** Describes each difference from other counts. For tests. */
    public List<String> differences(PinnedItems walked) {
        List<String> differences = new ArrayList<>();
        for (int i = 0; i < keys.length(); i++) {
            if (keys.get(i) != walked.keys.get(i) || bytes.get(i) != walked.bytes.get(i)) {
                differences.add("pinned items of physical database " + i + ": walked " + walked.keys.get(i) + " with "
                        + walked.bytes.get(i) + " bytes, counted " + keys.get(i) + " with " + bytes.get(i));
            }
        }
        return differences;
    }

    private long sum(AtomicLongArray counts, Attached databases) {
        long sum = 0;
        for (int i = 0; isUsed && i < counts.length(); i++) {
            sum += databases.isAttached(i) ? counts.get(i) : 0;
        }
        return sum;
    }

    /** Tells which physical databases clients can see. */
    @FunctionalInterface
    public interface Attached {
        /** Whether the database was not flushed. */
        boolean isAttached(int database);
    }
}
