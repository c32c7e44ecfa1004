package io.varve.flash.tier;

import java.util.HashMap;
import java.util.Map;

import io.varve.flash.record.ItemKey;
import io.varve.flash.record.ItemRecord;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemCapture;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.StoredItem;

/**
 * A point-in-time scan over the items on flash. Immutable: the progress of each worker is a {@link CaptureWalk}.
 *
 * <p>An item that is demoted while the scan is open has its number: it was visited in memory, and is not visited here.
 */
final class FlashCapture {
    private final ItemCapture target;
    private final long startMillis;
    private final long scanId;
    private final Map<Long, Integer> databases = new HashMap<>();

    /**
     * @param epochs the epochs of the databases at the start
     * @param scanId of no other scan
     */
    FlashCapture(ItemCapture target, long startMillis, long[] epochs, long scanId) {
        this.target = target;
        this.startMillis = startMillis;
        this.scanId = scanId;
        for (int i = 0; i < epochs.length; i++) {
            databases.put(epochs[i], i);
        }
    }

    long scanId() {
        return scanId;
    }

    /** Whether the scan has to visit an item that a worker has not passed. */
    boolean needs(byte[] record) {
        return ItemRecord.scanId(record) != scanId;
    }

    /** Passes an item to the target, unless it had expired at the start, or its database has been flushed before. */
    void capture(byte[] recordKey, byte[] record) {
        Integer database = databases.get(ItemKey.epochOf(recordKey));
        long expireAt = ItemRecord.expireAtMillis(record);
        if (database == null || expireAt >= 0 && startMillis > expireAt) {
            return;
        }
        target.capture(database, new StoredItem(ItemKey.keyOf(recordKey), ItemType.ofCode(ItemRecord.type(record)),
                ItemRecord.encoding(record), record, ItemRecord.valueOffset(record), ItemRecord.valueLength(record),
                expireAt < 0 ? Item.NEVER : expireAt, ItemRecord.access(record)));
    }
}
