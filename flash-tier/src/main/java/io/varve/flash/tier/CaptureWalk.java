package io.varve.flash.tier;

import java.util.Arrays;

import io.varve.flash.record.ItemKey;
import io.varve.flash.record.ItemRecord;
import io.varve.flash.store.FlashStore;
import io.varve.flash.store.KeyCursor;

/**
 * A worker's part of a {@link FlashCapture}: a walk over the keys of its partition, in the store's order. Confined to
 * the worker's thread.
 *
 * <p>The worker moves all items of its partition, and between two batches none is on its way. So all of them are then
 * in the store or in the queue, and a step of the walk meets those of a range of keys exactly once. An item that leaves
 * flash in front of the walk is passed to the scan at that moment.
 */
final class CaptureWalk {
    /** The most keys that one step visits, and the bytes of records after which it ends. */
    private static final int MAX_KEYS = 512;
    private static final int MAX_BYTES = 256 << 10;
    private static final byte[] BEGINNING = {};

    private final FlashStore store;
    private final FlashPartitionQueue partitionQueue;
    private final KeyCursor cursor;
    private final int partition;
    private final int partitions;
    /** The number of the scan that it belongs to. Not the scan itself, whose target may have much memory. */
    private long scanId = ItemRecord.NO_SCAN;
    /** The last key that was visited. */
    private byte[] walkedTo = BEGINNING;
    private boolean isDone;

    /**
     * @param partition the number of the worker's partition
     * @param partitions a power of two
     */
    CaptureWalk(FlashStore store, FlashPartitionQueue partitionQueue, int partition, int partitions) {
        this.store = store;
        this.partitionQueue = partitionQueue;
        this.partition = partition;
        this.partitions = partitions;
        cursor = store.walk();
    }

    private boolean isMine(byte[] recordKey) {
        return ItemKey.isKey(recordKey) && ((int) ItemKey.placeOf(recordKey) & partitions - 1) == partition;
    }

    /** Whether a scan has to visit an item of this partition that leaves flash. */
    boolean isAhead(FlashCapture capture, byte[] recordKey, byte[] record) {
        return capture.needs(record)
                && (scanId != capture.scanId() || !isDone && Arrays.compareUnsigned(recordKey, walkedTo) > 0);
    }

    /** Visits some items. @return whether there are more */
    boolean step(FlashCapture capture) {
        if (scanId != capture.scanId()) {
            scanId = capture.scanId();
            walkedTo = BEGINNING;
            isDone = false;
        }
        if (isDone) {
            return false;
        }
        byte[] from = walkedTo;
        byte[] to = from;
        boolean more = true;
        int bytes = 0;
        // Prefetched keys of the cursor may have been removed.
        cursor.seek(from);
        for (int i = 0; more && i < MAX_KEYS && bytes < MAX_BYTES; i++) {
            more = cursor.next();
            if (more) {
                to = cursor.key();
                bytes += isMine(to) && Arrays.compareUnsigned(to, from) > 0 ? visit(capture, to) : 0;
            }
        }
        for (DemotedItem item : partitionQueue.waitingItems()) {
            byte[] recordKey = item.recordKey();
            if (Arrays.compareUnsigned(recordKey, from) > 0
                    && (!more || Arrays.compareUnsigned(recordKey, to) <= 0) && capture.needs(item.record())) {
                capture.capture(recordKey, item.record());
            }
        }
        walkedTo = to;
        isDone = !more;
        return more;
    }

    /** @return the bytes that were read */
    private int visit(FlashCapture capture, byte[] recordKey) {
        byte[] record = store.get(recordKey);
        if (record == null) {
            return 0;
        }
        // A damaged record counts as missing, as it does when it is requested.
        if (ItemRecord.isWhole(recordKey, record) && capture.needs(record)) {
            capture.capture(recordKey, record);
        }
        return record.length;
    }
}
