package io.varve.memory.shard.cleaning;

import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.eviction.Ranking;
import io.varve.memory.index.Index;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.segment.ItemLayout;
import io.varve.memory.segment.Location;
import io.varve.memory.segment.SegmentCleaning;
import io.varve.memory.segment.Segments;
import io.varve.memory.shard.context.ShardContext;
import io.varve.memory.shard.item.ItemSampler;
import io.varve.memory.shard.item.ShardItems;
import io.varve.memory.shard.item.TimedHashes;
import io.varve.memory.shard.tree.ShardTrees;

/**
 * Frees memory in the segments of one shard: the cleaner and the evictor in one. Guarded by the shard's lock; works in
 * slices that end at a deadline, with the lock released between slices.
 *
 * <p>The cleaner walks a segment item by item. It skips dead items, reclaims expired ones and moves live ones to an
 * open segment. Under pressure it evicts live items past the {@linkplain Ranking threshold} instead of moving them. At
 * the end nothing lives in the segment and the whole segment becomes free, so eviction leaves no scattered dead bytes.
 *
 * <p>The cleaner takes the segment that is most profitable to clean (redis-plus-plus, equation 1) if enough of it is
 * dead. Otherwise, under pressure, it compares a few candidates and takes the one with the largest share of items past
 * the threshold. If only some penalty classes are evicted, it compares bytes instead of items.
 *
 * <pre>
 *   idle --begin--&gt; MOVING  --end of walk--&gt; idle     (the segment is free)
 *      \----------&gt; EVICTING --end of walk--&gt; idle
 *                      \------ no memory to move to, no item may be evicted: the segment is sealed again
 * </pre>
 */
public final class ShardCleaner {
    private static final int NONE = -1;
    /** The number of items of a candidate segment that are read to estimate its share past the threshold. */
    private static final int PROBES = 16;
    private static final int CANDIDATES = 5;
    /** A segment is not emptied for less than this share of it: the moves would cost more than they gain. */
    private static final double MIN_GAIN = 1.0 / 32;
    /** The most items evicted one by one in a slice; a collection counts as all of them. */
    private static final int SCATTERED = 16;
    /** The clock is read once for this many items. */
    private static final int ITEMS_PER_CLOCK = 8;

    private final ShardItems items;
    private final ShardContext context;
    private final Segments segments;
    private final SegmentCleaning cleaning;
    private final EvictionThreshold threshold;
    private final NodeCleaner nodes;

    private int segment = NONE;
    private long cursor;
    private boolean evicting;
    /** Whether the segment counts in the cleaner's statistics; emptying flushed databases does not. */
    private boolean counting;
    /** Whether this slice may evict items if there is no memory to move them to. */
    private boolean mayEvict;
    /**
     * Steps of this turn under pressure: segments emptied, or rounds of items evicted one by one; and the number of
     * segments at its start.
     */
    private int steps;
    private int heldAtFirst;

    private long segmentsCleaned;
    private long bytesMoved;
    private long bytesReclaimed;
    private double reclaimCost;

    public ShardCleaner(ShardItems items, ShardContext context) {
        this.items = items;
        this.context = context;
        this.segments = items.segments();
        this.cleaning = segments.cleaning();
        this.threshold = new EvictionThreshold(items, context);
        this.nodes = new NodeCleaner(items, threshold);
    }

    /**
     * Runs one slice of work under pressure: cleans if there are enough dead bytes, else evicts by the policy.
     *
     * @return false if nothing can be gained from this shard
     */
    public boolean pressureSlice(long nowMillis, long deadlineNanos) {
        follow(context.evictionPolicy());
        mayEvict = threshold.evicts();
        if (items.trees().hasDying()) {
            // Unreachable nodes are freed before any reachable item is evicted.
            items.trees().freeSlice(deadlineNanos);
            return true;
        }
        if (segment != NONE
                || clean(mayEvict ? Ranking.worstShare(context.settings().evictionSamples()) : MIN_GAIN, false,
                        nowMillis)) {
            return walk(nowMillis, deadlineNanos);
        }
        if (!mayEvict) {
            return false;
        }
        boolean hasThreshold = threshold.update(nowMillis);
        if (hasThreshold && isTurnOfLargeItems() && evictLarge(nowMillis)) {
            return true;
        }
        if (hasThreshold && beginEvicting(nowMillis)) {
            return walk(nowMillis, deadlineNanos);
        }
        if (hasThreshold && threshold.isForSomeClasses()) {
            // The classes over their shares are in no segment worth emptying for them: their items are large, or in
            // open segments. Other items are evicted instead.
            if (evictLarge(nowMillis)) {
                return true;
            }
            threshold.extendToAllClasses();
            if (beginEvicting(nowMillis)) {
                return walk(nowMillis, deadlineNanos);
            }
        }
        if (clean(MIN_GAIN, false, nowMillis)) {
            return walk(nowMillis, deadlineNanos);
        }
        return hasThreshold && evictScattered(nowMillis);
    }

    /**
     * Runs one slice of work without pressure: cleans a segment of which at least {@code deadShare} is dead.
     *
     * @return false if there is none
     */
    public boolean compactSlice(long nowMillis, long deadlineNanos, double deadShare) {
        follow(context.evictionPolicy());
        mayEvict = false;
        return (segment != NONE || clean(deadShare, true, nowMillis)) && walk(nowMillis, deadlineNanos);
    }

    /**
     * Empties the segment that was sealed first, or continues with a half-emptied one, until the deadline.
     *
     * @return false if there is none, or no memory for its live items
     */
    public boolean emptyOldest(long nowMillis, long deadlineNanos) {
        follow(context.evictionPolicy());
        mayEvict = false;
        if (segment == NONE) {
            int oldest = cleaning.oldestSealed();
            if (oldest == NONE && segments.closeOpenSegments() > 0) {
                oldest = cleaning.oldestSealed();
            }
            if (oldest == NONE) {
                return false;
            }
            begin(oldest, false, false);
        }
        return walk(nowMillis, deadlineNanos);
    }

    /** Begins the turn of a thread that frees memory here. */
    public void beginTurn() {
        steps = 0;
        heldAtFirst = segments.segmentCount();
    }

    /**
     * Whether another shard should continue; called after each slice under pressure. The turn ends when the shard has a
     * segment less than at its start. It also ends after more steps than a segment should take if each step frees the
     * share past the threshold.
     */
    public boolean isTurnOver() {
        if (segment != NONE || items.trees().hasDying()) {
            return false;
        }
        boolean over = segments.segmentCount() < heldAtFirst || ++steps > context.settings().evictionSamples();
        if (over) {
            beginTurn();
        }
        return over;
    }

    private void follow(EvictionPolicy now) {
        if (threshold.follow(now)) {
            evicting = false;
        }
    }

    /** Begins to clean a segment that gains at least this share; false if there is none. */
    private boolean clean(double minShare, boolean patient, long nowMillis) {
        int candidate = cleaning.mostProfitable(context.settings().cleanerPolicy(), nowMillis, minShare, patient);
        if (candidate == NONE) {
            return false;
        }
        begin(candidate, false, true);
        return true;
    }

    /** Begins to evict from the segment that gains most; false if none gains enough. */
    private boolean beginEvicting(long nowMillis) {
        if (cleaning.oldestSealed() == NONE && segments.closeOpenSegments() == 0) {
            return false;
        }
        int candidate = mostPastThreshold(nowMillis);
        if (candidate == NONE) {
            return false;
        }
        begin(candidate, true, true);
        return true;
    }

    private void begin(int candidate, boolean evict, boolean count) {
        cleaning.begin(candidate);
        segment = candidate;
        evicting = evict;
        counting = count;
        cursor = SegmentCleaning.firstOf(candidate);
        nodes.begin(segments.extentBytes(candidate));
        if (counting) {
            reclaimCost += segments.utilization(candidate);
        }
    }

    /** Continues from the cursor; frees the segment at its end. */
    private boolean walk(long nowMillis, long deadlineNanos) {
        int untilClock = ITEMS_PER_CLOCK;
        for (long at = cleaning.nextLive(segment, cursor); at != Location.NONE; at = cleaning.nextLive(segment,
                cursor)) {
            long address = items.address(at);
            int size = ItemLayout.size(address);
            cursor = at;
            if (!dispose(at, address, size, nowMillis)) {
                cleaning.abort(segment);
                segment = NONE;
                return false;
            }
            cursor = at + size;
            if (--untilClock == 0) {
                untilClock = ITEMS_PER_CLOCK;
                if (context.ticker.nanoTime() - deadlineNanos >= 0) {
                    return true;
                }
            }
        }
        if (counting) {
            bytesReclaimed += segments.extentBytes(segment);
            segmentsCleaned++;
        }
        cleaning.end(segment);
        segment = NONE;
        return true;
    }

    /**
     * Moves, evicts or reclaims one live item; false if there was no memory to move it to and it may not be evicted.
     */
    private boolean dispose(long location, long address, int size, long nowMillis) {
        if (ItemLayout.isInternal(address)) {
            int moved = nodes.dispose(location, address, evicting, mayEvict, nowMillis);
            bytesMoved += counting ? Math.max(0, moved) : 0;
            return moved >= 0;
        }
        if (items.cleaning().isDetached(address)) {
            items.cleaning().reclaim(location, address);
            return true;
        }
        if (items.cleaning().expireNow(location, address, nowMillis)) {
            return true;
        }
        long expireAt = TimedHashes.expireAtMillis(address);
        if (evicting && threshold.isEvictable(expireAt) && isEvictableNow(address)
                && threshold.isPastThreshold(location, address, expireAt, nowMillis)
                && evict(location, address)) {
            return true;
        }
        try {
            items.cleaning().move(location, address, nowMillis);
            bytesMoved += counting ? size : 0;
            return true;
        } catch (CacheFullException full) {
            return mayEvict && threshold.isEvictable(expireAt) && evict(location, address);
        }
    }

    private boolean isEvictableNow(long address) {
        return !ItemLayout.isTree(address) || nodes.mayEvictOne();
    }

    /** @return false if the item is pinned */
    private boolean evict(long location, long address) {
        // Read before the eviction: it comes from the item's header.
        long nodeBytes = ItemLayout.isTree(address) ? ShardTrees.nodeBytes(address) : 0;
        boolean evicted = items.cleaning().evict(location, address);
        if (evicted) {
            nodes.countEvicted(nodeBytes);
        }
        return evicted;
    }

    /** Among a few candidates, the segment of which the largest share would be freed. */
    private int mostPastThreshold(long nowMillis) {
        int best = NONE;
        double bestShare = MIN_GAIN;
        for (int i = 0; i < CANDIDATES; i++) {
            int candidate = switch (i) {
                case 0 -> cleaning.oldestSealed();
                case 1 -> cleaning.leastUtilized();
                case 2 -> threshold.isForSomeClasses() ? threshold.fullestSegment() : NONE;
                default -> cleaning.randomSealed(items.random());
            };
            if (candidate != NONE && candidate != best) {
                double share = estimateFreed(candidate, nowMillis);
                if (share > bestShare) {
                    bestShare = share;
                    best = candidate;
                }
            }
        }
        return best;
    }

    /**
     * The share of the segment that cleaning would free: its dead bytes, and the live items past the threshold,
     * estimated from its first live items. It is zero if some classes are evicted alone and the segment's gain is
     * almost only dead bytes, because cleaning would not evict them.
     */
    private double estimateFreed(int candidate, long nowMillis) {
        long examined = 0;
        long toEvict = 0;
        long at = cleaning.nextLive(candidate, SegmentCleaning.firstOf(candidate));
        for (int probes = 0; at != Location.NONE && probes < PROBES; probes++) {
            long address = items.address(at);
            if (threshold.concerns(address)) {
                int weight = threshold.weighsClasses() ? ItemLayout.size(address) : 1;
                examined += weight;
                toEvict += wouldEvict(at, address, nowMillis) ? weight : 0;
            }
            at = cleaning.nextLive(candidate, cleaning.after(at));
        }
        double evicted = threshold.bytesConcerned(candidate)
                * (examined == 0 ? threshold.shareEvicted() : (double) toEvict / examined);
        int extentBytes = segments.extentBytes(candidate);
        return threshold.isForSomeClasses() && evicted < MIN_GAIN * extentBytes
                ? 0
                : (segments.reclaimableBytes(candidate) + evicted) / extentBytes;
    }

    private boolean wouldEvict(long location, long address, long nowMillis) {
        if (ItemLayout.isInternal(address)) {
            return nodes.wouldEvict(address, nowMillis);
        }
        long expireAt = TimedHashes.expireAtMillis(address);
        return items.timed().isDueForRemoval(address, nowMillis)
                || threshold.isEvictable(expireAt) && threshold.isPastThreshold(location, address, expireAt, nowMillis)
                        && !threshold.isPinned(location);
    }

    /** Whether to evict a large item rather than one in a segment: chosen at random by their share of the bytes. */
    private boolean isTurnOfLargeItems() {
        long largeBytes = segments.largeBytes();
        return largeBytes > 0 && Long.remainderUnsigned(items.nextRandom(), segments.usedBytes()) < largeBytes;
    }

    /**
     * Evicts a large item past the threshold, which frees its run at once; false if a sample of the large ones has
     * none.
     */
    private boolean evictLarge(long nowMillis) {
        for (int tries = 0; tries < Ranking.SAMPLE; tries++) {
            long location = items.sampler().large();
            if (location == Index.NONE) {
                return false;
            }
            long owner = nodes.ownerOf(location);
            if (owner != Index.NONE && evictIfPastThreshold(owner, nowMillis)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Evicts items one by one, because the items past the threshold are large, or too scattered to empty a segment.
     * The cleaner reclaims their dead bytes later.
     */
    private boolean evictScattered(long nowMillis) {
        int evicted = 0;
        long enough = items.sampler().failures() + ItemSampler.MAX_FAILURES;
        for (int tries = 0; tries < 2 * Ranking.SAMPLE && evicted < SCATTERED
                && items.sampler().failures() < enough; tries++) {
            long location = threshold.sample(enough - items.sampler().failures());
            if (location == Index.NONE) {
                break;
            }
            int counts = ItemLayout.isTree(items.address(location)) ? SCATTERED : 1;
            evicted += evictIfPastThreshold(location, nowMillis) ? counts : 0;
        }
        return evicted > 0;
    }

    private boolean evictIfPastThreshold(long location, long nowMillis) {
        long address = items.address(location);
        if (items.cleaning().isDetached(address)) {
            items.cleaning().reclaim(location, address);
            return true;
        }
        long expireAt = TimedHashes.expireAtMillis(address);
        return threshold.isEvictable(expireAt) && threshold.isPastThreshold(location, address, expireAt, nowMillis)
                && items.cleaning().evict(location, address);
    }

    /**
     * The counters of a cleaner since the start, or since their last reset. Immutable.
     *
     * @param reclaimCost sum of the utilizations of the cleaned segments
     */
    public record Work(long segmentsCleaned, long bytesMoved, long bytesReclaimed, double reclaimCost) {}

    /** The number of items that it has evicted or demoted. */
    public long removedItems() {
        return items.cleaning().removed();
    }

    public Work work() {
        return new Work(segmentsCleaned, bytesMoved, bytesReclaimed, reclaimCost);
    }

    public void resetStats() {
        segmentsCleaned = 0;
        bytesMoved = 0;
        bytesReclaimed = 0;
        reclaimCost = 0;
    }
}
