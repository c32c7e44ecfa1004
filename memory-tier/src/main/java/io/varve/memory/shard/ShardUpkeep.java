package io.varve.memory.shard;

import io.varve.memory.expiry.CycleStatus;
import io.varve.memory.expiry.DueCount;
import io.varve.memory.expiry.Expiry;
import io.varve.memory.index.Index;
import io.varve.memory.shard.context.Databases;
import io.varve.memory.shard.item.ShardItems;

/**
 * The maintenance work of one shard: expiry cycles, rehashing, and closing idle open segments. Guarded by the shard's
 * lock.
 */
public final class ShardUpkeep {
    private final ShardItems items;

    ShardUpkeep(ShardItems items) {
        this.items = items;
    }

    public void beginExpiryCycle(long nowMillis) {
        items.expiry().beginCycle(nowMillis);
    }

    /** Continues the cycle until the deadline; true if it is complete. */
    public boolean expirySlice(long nowMillis, long deadlineNanos) {
        return items.expiry().runSlice(nowMillis, deadlineNanos) == CycleStatus.DONE;
    }

    /** {@link Expiry#countDue}. */
    public boolean countExpired(DueCount count, long nowMillis, long deadlineNanos) {
        return items.expiry().countDue(count, nowMillis, deadlineNanos);
    }

    /** Moves entries of the shard's indexes between their tables; true if there is more to do. */
    public boolean rehashSlice(int buckets) {
        boolean more = false;
        for (int physical = 0; physical < Databases.PHYSICAL; physical++) {
            Index index = items.indexOrNull(physical);
            if (index != null) {
                more |= index.rehashStep(buckets);
                items.requestRefusedTable(index);
            }
        }
        return more;
    }

    public void closeIdleSegments(long nowMillis) {
        items.segments().closeIdleSegments(nowMillis);
    }

    public void freeEmptyOpenSegments() {
        items.segments().freeEmptyOpenSegments();
    }
}
