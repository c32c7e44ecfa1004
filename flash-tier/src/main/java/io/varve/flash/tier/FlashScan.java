package io.varve.flash.tier;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

import io.varve.flash.record.ItemKey;
import io.varve.flash.record.ItemRecord;
import io.varve.flash.record.RecordKey;
import io.varve.flash.store.FlashStore;
import io.varve.flash.store.KeyCursor;

/**
 * A scan over the items on flash, in the order of a scan over memory, which removes nothing. Confined to the thread
 * that walks.
 */
final class FlashScan {
    private final FlashStore store;
    private final FlashPartitionQueue[] partitionQueues;
    private final KeyCursor cursor;
    private volatile boolean stopped;
    private final SplittableRandom random = new SplittableRandom();

    /** Ends the current scan. */
    void stop() {
        stopped = true;
    }

    FlashScan(FlashStore store, FlashPartitionQueue[] partitionQueues) {
        this.store = store;
        this.partitionQueues = partitionQueues;
        cursor = store.walk();
    }

    /**
     * Visits every unexpired item of an epoch in a group, from a position to before another. An item in transit may be
     * visited more than once, and is visited if it is not in memory before and after. Ends when the visitor returns
     * false.
     *
     * @param to 0 for the end of the group
     */
    void visit(long epoch, int group, long from, long to, long wallMillis, RecordVisitor visitor) {
        boolean more = visitMoving(epoch, group, from, to, wallMillis, visitor);
        cursor.seek(ItemKey.firstOf(group, from));
        while (more && !stopped && cursor.next()) {
            byte[] recordKey = cursor.key();
            long place = ItemKey.isKey(recordKey) ? ItemKey.placeOf(recordKey) : 0;
            if (ItemKey.group(place) != group || !isBefore(place, to)) {
                break;
            }
            if (ItemKey.epochOf(recordKey) == epoch) {
                byte[] record = store.get(recordKey);
                more = record == null || !ItemRecord.isWhole(recordKey, record)
                        || visit(recordKey, record, wallMillis, visitor);
            }
        }
        if (more) {
            // Again, for items that were in the store when their queue was read, and had left it when the cursor
            // passed.
            visitMoving(epoch, group, from, to, wallMillis, visitor);
        }
    }

    /** @return whether the visitor wants more */
    private boolean visitMoving(long epoch, int group, long from, long to, long wallMillis, RecordVisitor visitor) {
        List<DemotedItem> moving = new ArrayList<>();
        for (FlashPartitionQueue partitionQueue : partitionQueues) {
            partitionQueue.addTo(moving);
        }
        for (DemotedItem item : moving) {
            long place = ItemKey.placeOf(item.recordKey());
            if (ItemKey.epochOf(item.recordKey()) == epoch && ItemKey.group(place) == group
                    && Long.compareUnsigned(ItemKey.position(place), from) >= 0 && isBefore(place, to)
                    && !visit(item.recordKey(), item.record(), wallMillis, visitor)) {
                return false;
            }
        }
        return true;
    }

    private static boolean isBefore(long place, long to) {
        return to == 0 || Long.compareUnsigned(ItemKey.position(place), to) < 0;
    }

    /** Visits an item if it is not expired. @return whether the visitor wants more */
    private static boolean visit(byte[] recordKey, byte[] record, long wallMillis, RecordVisitor visitor) {
        long expireAt = ItemRecord.expireAtMillis(record);
        return expireAt >= 0 && wallMillis > expireAt
                || visitor.visit(ItemKey.keyOf(recordKey), ItemRecord.type(record));
    }

    /**
     * Visits one random item of an epoch: the first one from a random position on, or, if there are few of this epoch,
     * the first one that the cursor meets.
     *
     * @return false if there was none
     */
    boolean visitAny(long epoch, long wallMillis, RecordVisitor visitor) {
        cursor.seek(RecordKey.prefix(random.nextLong()));
        boolean visited = visitNext(epoch, wallMillis, visitor);
        if (!visited) {
            cursor.seek(new byte[0]);
            visited = visitNext(epoch, wallMillis, visitor);
        }
        return visited || visitMovingOne(epoch, wallMillis, visitor);
    }

    private boolean visitMovingOne(long epoch, long wallMillis, RecordVisitor visitor) {
        List<DemotedItem> moving = new ArrayList<>();
        for (FlashPartitionQueue partitionQueue : partitionQueues) {
            partitionQueue.addTo(moving);
        }
        boolean visited = false;
        for (DemotedItem item : moving) {
            if (!visited && ItemKey.epochOf(item.recordKey()) == epoch) {
                visited = visitOne(item.recordKey(), item.record(), wallMillis, visitor);
            }
        }
        return visited;
    }

    /** Moves to the next item of an epoch, at most to the end of the store. */
    private boolean visitNext(long epoch, long wallMillis, RecordVisitor visitor) {
        boolean visited = false;
        while (!visited && !stopped && cursor.next()) {
            byte[] recordKey = cursor.key();
            if (ItemKey.isKey(recordKey) && ItemKey.epochOf(recordKey) == epoch) {
                byte[] record = store.get(recordKey);
                visited = record != null && ItemRecord.isWhole(recordKey, record)
                        && visitOne(recordKey, record, wallMillis, visitor);
            }
        }
        return visited;
    }

    /** @return whether it is not expired, and so was visited */
    private static boolean visitOne(byte[] recordKey, byte[] record, long wallMillis, RecordVisitor visitor) {
        return !visit(recordKey, record, wallMillis, (key, type) -> {
            visitor.visit(key, type);
            return false;
        });
    }
}
