package io.varve.memory.shard;

import java.util.Arrays;

import io.varve.memory.index.Index;
import io.varve.memory.item.Item;
import io.varve.memory.item.LowerTier;
import io.varve.memory.segment.ItemLayout;
import org.jspecify.annotations.Nullable;

/**
 * Has a shard's items of one class fall to the tier below, slice by slice, in the order in which a tier that is ordered as memory is walked over has them: one
 * pass from its beginning to its end. Guarded by the shard's lock.
 *
 * <p>What falls falls as if pressure drove it out, and only what the policy of now would let go. So it is below and not in memory any more, and whoever writes or deletes it brings it up first: nothing has to be
 * merged when it comes back.
 */
public final class ShardDump {
    private static final int SOME = 16;

    private final ShardItems items;
    private final ShardContext context;
    /** The items of a home bucket that are to fall. */
    private long[] met = new long[SOME];
    private int metCount;

    /** How a slice has ended. */
    public enum Progress {
        /** Nothing of the class is left in this shard but what cannot fall, and what came since. */
        DONE,
        /** The time was over. */
        MORE,
        /** The tier below takes nothing now. */
        HELD_UP
    }

    /** How far a dump has come in one shard. Guarded by the shard's lock. */
    public static final class Walk {
        private int physical;
        private long cursor;
        private long fallen;

        /** Items that have fallen. */
        public long fallen() {
            return fallen;
        }
    }

    ShardDump(ShardItems items, ShardContext context) {
        this.items = items;
        this.context = context;
    }

    /**
     * Goes on until the deadline, by one item at least if there is one.
     *
     * @param walk of this shard
     */
    public Progress slice(Walk walk, int penaltyClass, long nowMillis, long deadlineNanos) {
        LowerTier lower = context.lower;
        if (lower == null || !context.evictionPolicy.evicts()) {
            return Progress.DONE;
        }
        for (Index index = next(walk); index != null; index = next(walk)) {
            metCount = 0;
            long next = index.scan(walk.cursor, location -> meet(location, penaltyClass, nowMillis));
            Progress fell = fall(lower, walk, deadlineNanos);
            if (fell != Progress.DONE) {
                // The bucket is met again, with what is left of it.
                return fell;
            }
            walk.cursor = next;
            walk.physical += next == 0 ? 1 : 0;
            if (context.ticker.nanoTime() - deadlineNanos >= 0) {
                return Progress.MORE;
            }
        }
        return Progress.DONE;
    }

    /** The index of the database that it has come to; null at the end. */
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

    private void meet(long location, int penaltyClass, long nowMillis) {
        long address = items.address(location);
        if (ItemLayout.penaltyClass(address) == penaltyClass && !ItemLayout.isTree(address)
                && mayGo(location, address) && !items.timed().isGone(address, nowMillis)) {
            if (metCount == met.length) {
                met = Arrays.copyOf(met, 2 * met.length);
            }
            met[metCount++] = location;
        }
    }

    private boolean mayGo(long location, long address) {
        return (!context.evictionPolicy.onlyVolatile() || TimedHashes.expireAtMillis(address) != Item.NEVER)
                && !(context.pins.isAny() && context.pins.contains(items.verifier().hashOf(location)));
    }

    private Progress fall(LowerTier lower, Walk walk, long deadlineNanos) {
        for (int i = 0; i < metCount; i++) {
            switch (items.cleaning().offer(lower, met[i], items.address(met[i]))) {
                case LATER -> {
                    return Progress.HELD_UP;
                }
                case NEVER -> {
                    continue;
                }
                case TAKEN -> walk.fallen++;
            }
            if (context.ticker.nanoTime() - deadlineNanos >= 0) {
                return Progress.MORE;
            }
        }
        return Progress.DONE;
    }
}
