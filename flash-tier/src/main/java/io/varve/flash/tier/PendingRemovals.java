package io.varve.flash.tier;

import java.util.HashSet;
import java.util.Set;

import io.varve.flash.tier.DemotedItem.Name;

/**
 * Keys on flash that are being removed, from the choice until their worker has removed them. Guarded by {@code this}.
 */
final class PendingRemovals {
    /** Heap bytes of a removal beside its key: objects, entries of a set and a queue. */
    private static final int OVERHEAD_BYTES = 160;
    /** Only a stuck worker lets more than this many bytes wait: then nothing is written that would need evictions. */
    private static final long MAX_BYTES = 512 << 10;
    /** From this size on, threads without urgent work wait. */
    private static final long NEAR_LIMIT_BYTES = MAX_BYTES / 4;

    private final Set<Name> pending = new HashSet<>();
    private long bytes;

    /** A key to remove, and whether because of an eviction; else because its epoch has ended. Immutable. */
    record PendingRemoval(Name name, boolean evicted) {}

    /** @return false if its removal is pending already */
    synchronized boolean begin(Name name) {
        boolean fresh = pending.add(name);
        bytes += fresh ? name.recordKey().length + OVERHEAD_BYTES : 0;
        return fresh;
    }

    /** Ends a removal, successful or not. */
    synchronized void end(Name name) {
        if (pending.remove(name)) {
            bytes -= name.recordKey().length + OVERHEAD_BYTES;
        }
    }

    synchronized int count() {
        return pending.size();
    }

    synchronized boolean isNearLimit() {
        return bytes > NEAR_LIMIT_BYTES;
    }

    synchronized boolean isOverLimit() {
        return bytes > MAX_BYTES;
    }
}
