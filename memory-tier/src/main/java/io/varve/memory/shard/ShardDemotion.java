package io.varve.memory.shard;

import java.util.Arrays;

import io.varve.memory.index.Index;
import io.varve.memory.item.Item;
import io.varve.memory.item.SecondaryTier;
import io.varve.memory.segment.ItemLayout;
import io.varve.memory.shard.context.Databases;
import io.varve.memory.shard.context.ShardContext;
import io.varve.memory.shard.context.ShardSettings;
import io.varve.memory.shard.item.ShardItems;
import io.varve.memory.shard.item.TimedHashes;
import org.jspecify.annotations.Nullable;

/**
 * Demotes a shard's items of one penalty class to the secondary tier, slice by slice. Guarded by the shard's lock. It
 * walks the index in the order in which a secondary tier sorts its keys, so the tier sees one pass from beginning to
 * end.
 *
 * <p>Demotion here follows the rules of eviction and takes only items that the present policy may evict. The item is
 * then in the secondary tier and not in memory. A command that writes or deletes it first fetches it, so a fetch never
 * has to merge two versions.
 */
public final class ShardDemotion {
    private static final int SOME = 16;
    private static final long[] NONE = {};

    private final ShardItems items;
    private final ShardContext context;
    /** The items of a home bucket that are to be demoted. */
    private long[] candidates = NONE;
    private int candidateCount;

    /** The result of a slice. */
    public enum Progress {
        /**
         * The shard has no items of the class left, except those that cannot be demoted and later arrivals; or demotion
         * is impossible, without a secondary tier or an evicting policy.
         */
        DONE,
        /** The deadline has passed. */
        MORE,
        /** The secondary tier takes nothing now. */
        BLOCKED
    }

    /** The progress of a dump in one shard. Guarded by the shard's lock. */
    public static final class Walk {
        private int physical;
        private long cursor;
        private long demoted;

        /** Items that were demoted. */
        public long demoted() {
            return demoted;
        }
    }

    ShardDemotion(ShardItems items, ShardContext context) {
        this.items = items;
        this.context = context;
    }

    /**
     * Continues until the deadline, by at least one item if there is one.
     *
     * @param walk the progress in this shard
     */
    public Progress slice(Walk walk, int penaltyClass, long nowMillis, long deadlineNanos) {
        ShardSettings settings = context.settings();
        SecondaryTier secondary = settings.secondary();
        if (secondary == null || !settings.evictionPolicy().evicts()) {
            return Progress.DONE;
        }
        for (Index index = next(walk); index != null; index = next(walk)) {
            candidateCount = 0;
            long next = index.scan(walk.cursor, location -> collect(location, penaltyClass, nowMillis));
            Progress progress = demote(secondary, walk, deadlineNanos);
            if (progress != Progress.DONE) {
                // The next slice visits the bucket again, with its remaining items.
                return progress;
            }
            walk.cursor = next;
            walk.physical += next == 0 ? 1 : 0;
            if (context.ticker.nanoTime() - deadlineNanos >= 0) {
                return Progress.MORE;
            }
        }
        return Progress.DONE;
    }

    /** The index of the database that the walk has reached; null at the end. */
    private @Nullable Index next(Walk walk) {
        while (walk.physical < Databases.PHYSICAL) {
            Index index = items.indexOrNull(walk.physical);
            if (index != null && index.size() > 0 && context.databases.logical(walk.physical) != Databases.DETACHED) {
                return index;
            }
            walk.physical++;
            walk.cursor = 0;
        }
        return null;
    }

    private void collect(long location, int penaltyClass, long nowMillis) {
        long address = items.address(location);
        if (ItemLayout.penaltyClass(address) == penaltyClass && !ItemLayout.isTree(address)
                && isDemotable(location, address) && !items.timed().hasExpired(address, nowMillis)) {
            if (candidateCount == candidates.length) {
                candidates = Arrays.copyOf(candidates, Math.max(SOME, 2 * candidates.length));
            }
            candidates[candidateCount++] = location;
        }
    }

    private boolean isDemotable(long location, long address) {
        return !ItemLayout.isPinned(address)
                && (!context.evictionPolicy().onlyVolatile() || TimedHashes.expireAtMillis(address) != Item.NEVER)
                && !(context.pins.isAny() && context.pins.contains(items.verifier().hashOf(location)));
    }

    private Progress demote(SecondaryTier secondary, Walk walk, long deadlineNanos) {
        for (int i = 0; i < candidateCount; i++) {
            switch (items.cleaning().offer(secondary, candidates[i], items.address(candidates[i]))) {
                case LATER -> {
                    return Progress.BLOCKED;
                }
                case NEVER -> {
                    continue;
                }
                case TAKEN -> walk.demoted++;
            }
            if (context.ticker.nanoTime() - deadlineNanos >= 0) {
                return Progress.MORE;
            }
        }
        return Progress.DONE;
    }
}
