package io.varve.memory.shard;

import io.varve.memory.expiry.CycleStatus;
import io.varve.memory.expiry.DueCount;
import io.varve.memory.expiry.Expiry;
import io.varve.memory.index.Index;

/**
 * What has to be done in a shard now and then, whether or not anybody asks for its keys: expiry by time, larger tables, heads that nobody writes to.
 * Guarded by the shard's lock.
 */
public final class ShardUpkeep {
    private final ShardItems items;

    ShardUpkeep(ShardItems items) {
        this.items = items;
    }

    public void beginExpiryCycle(long nowMillis) {
        items.expiry().beginCycle(nowMillis);
    }

    /** Goes on with the cycle until the deadline; true if it has come to its end. */
    public boolean expirySlice(long nowMillis, long deadlineNanos) {
        return items.expiry().runSlice(nowMillis, deadlineNanos) == CycleStatus.DONE;
    }

    /** {@link Expiry#countDue}. */
    public boolean countExpired(DueCount count, long nowMillis, long deadlineNanos) {
        return items.expiry().countDue(count, nowMillis, deadlineNanos);
    }

    /** Moves the shard's indexes on between their tables; true if there is more to do. */
    public boolean rehashSlice(int buckets) {
        boolean more = false;
        for (int physical = 0; physical < Databases.PHYSICAL; physical++) {
            Index index = items.indexOrNull(physical);
            if (index != null) {
                more |= index.rehashStep(buckets);
                items.askForRefused(index);
            }
        }
        return more;
    }

    public void closeIdleHeads(long nowMillis) {
        items.segments().closeIdleHeads(nowMillis);
    }

    public void freeEmptyHeads() {
        items.segments().freeEmptyHeads();
    }
}
