package io.varve.memory.shard;

import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.eviction.Ranking;
import io.varve.memory.index.Index;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.segment.ItemLayout;
import io.varve.memory.segment.Location;
import io.varve.memory.segment.SegmentCleaning;
import io.varve.memory.segment.Segments;

/**
 * Gets memory back from the segments of one shard: the cleaner and the evictor, which are one. Guarded by the shard's
 * lock; works in slices that end at a deadline, with the lock released in between.
 *
 * <p>A segment is taken and walked in the order of its items. What is dead is passed over, what has expired is
 * reclaimed, and what lives is moved to an open head, or, when the segment was taken under pressure and the item is on
 * the far side of the {@linkplain Ranking line}, evicted. At the end of the walk nothing lives there, and the segment is
 * free as a whole: eviction leaves no scattered dead bytes.
 *
 * <p>Which segment: the one that is most profitable to clean (redis-plus-plus, equation 1) if enough of it is dead;
 * otherwise, under pressure, the one among a few with the largest share of items past the line; of bytes past it, where those of some classes of penalty go alone.
 *
 * <pre>
 *   idle --begin--&gt; MOVING  --end of walk--&gt; idle     (the segment is free)
 *      \----------&gt; EVICTING --end of walk--&gt; idle
 *                      \------ no room to move to, nobody may go: the segment is sealed again
 * </pre>
 */
public final class ShardCleaner {
    private static final int NONE = -1;
    /** How many items of a candidate segment are looked at to estimate its share past the line. */
    private static final int PROBES = 16;
    private static final int CANDIDATES = 5;
    /** A segment is not emptied for less than this share of it: what moves would cost more than it brings. */
    private static final double LEAST_GAIN = 1.0 / 32;
    /** How many items go one by one in a slice; a collection counts as all of them. */
    private static final int SCATTERED = 16;
    /** The clock is read once for so many items walked. */
    private static final int ITEMS_PER_CLOCK = 8;

    private final ShardItems items;
    private final ShardContext context;
    private final Segments segments;
    private final SegmentCleaning cleaning;
    private final EvictionLine line;
    private final NodeCleaner nodes;

    private int segment = NONE;
    private long cursor;
    private boolean evicting;
    /** Whether the segment is cleaned: emptying what was flushed is not what the cleaner's figures tell of. */
    private boolean counting;
    /** Whether this slice may evict what finds no room to move to. */
    private boolean mayEvict;
    /** Steps of this turn under pressure: segments emptied, or a few items that went one by one; and what was held before. */
    private int steps;
    private int heldAtFirst;

    private long segmentsCleaned;
    private long bytesMoved;
    private long bytesReclaimed;
    private double reclaimCost;

    ShardCleaner(ShardItems items, ShardContext context) {
        this.items = items;
        this.context = context;
        this.segments = items.segments();
        this.cleaning = segments.cleaning();
        this.line = new EvictionLine(items, context);
        this.nodes = new NodeCleaner(items, line);
    }

    /**
     * One slice of work under pressure: cleans where enough is dead, else evicts as the policy says.
     *
     * @return false if nothing can be gained from this shard
     */
    public boolean pressureSlice(long nowMillis, long deadlineNanos) {
        follow(context.evictionPolicy);
        mayEvict = line.evicts();
        if (items.trees().hasDying()) {
            // What nobody can reach goes before anything that somebody may ask for.
            items.trees().freeSlice(deadlineNanos);
            return true;
        }
        if (segment != NONE
                || clean(mayEvict ? Ranking.worstShare(context.evictionSamples) : LEAST_GAIN, false, nowMillis)) {
            return walk(nowMillis, deadlineNanos);
        }
        if (!mayEvict) {
            return false;
        }
        boolean drawn = line.draw(nowMillis);
        if (drawn && largeTurn() && evictLarge(nowMillis)) {
            return true;
        }
        if (drawn && beginEvicting(nowMillis)) {
            return walk(nowMillis, deadlineNanos);
        }
        if (drawn && line.isForSome()) {
            // They are in no segment that is worth emptying for them: large, or in open heads. Others go rather than nobody.
            if (evictLarge(nowMillis)) {
                return true;
            }
            line.drawThroughAll();
            if (beginEvicting(nowMillis)) {
                return walk(nowMillis, deadlineNanos);
            }
        }
        if (clean(LEAST_GAIN, false, nowMillis)) {
            return walk(nowMillis, deadlineNanos);
        }
        return drawn && evictScattered(nowMillis);
    }

    /**
     * One slice of work without pressure: cleans a segment of which at least {@code deadShare} is dead.
     *
     * @return false if there is none
     */
    public boolean compactSlice(long nowMillis, long deadlineNanos, double deadShare) {
        follow(context.evictionPolicy);
        mayEvict = false;
        return (segment != NONE || clean(deadShare, true, nowMillis)) && walk(nowMillis, deadlineNanos);
    }

    /**
     * Empties the segment that was sealed first, or goes on with the one that is half done, until the deadline.
     *
     * @return false if there is none, or no room for what lives
     */
    boolean emptyOldest(long nowMillis, long deadlineNanos) {
        follow(context.evictionPolicy);
        mayEvict = false;
        if (segment == NONE) {
            int oldest = cleaning.oldestSealed();
            if (oldest == NONE && segments.closeHeads() > 0) {
                oldest = cleaning.oldestSealed();
            }
            if (oldest == NONE) {
                return false;
            }
            begin(oldest, false, false);
        }
        return walk(nowMillis, deadlineNanos);
    }

    /** A thread begins to make room here. */
    public void beginTurn() {
        steps = 0;
        heldAtFirst = segments.segmentCount();
    }

    /**
     * To be asked after each slice under pressure: whether another shard is to go on. This one holds a segment less than when the
     * turn began, or gained none in as many steps as a segment should take if each frees the share that is past the line.
     */
    public boolean isTurnOver() {
        if (segment != NONE || items.trees().hasDying()) {
            return false;
        }
        boolean over = segments.segmentCount() < heldAtFirst || ++steps > context.evictionSamples;
        if (over) {
            beginTurn();
        }
        return over;
    }

    private void follow(EvictionPolicy now) {
        if (line.follow(now)) {
            evicting = false;
        }
    }

    /** Begins to clean a segment of which at least this share is gained; false if there is none. */
    private boolean clean(double leastShare, boolean patient, long nowMillis) {
        int candidate = cleaning.mostProfitable(context.cleanerPolicy, nowMillis, leastShare, patient);
        if (candidate == NONE) {
            return false;
        }
        begin(candidate, false, true);
        return true;
    }

    /** Begins to evict from the segment that loses most by it; false if none would lose anything to speak of. */
    private boolean beginEvicting(long nowMillis) {
        if (cleaning.oldestSealed() == NONE && segments.closeHeads() == 0) {
            return false;
        }
        int candidate = mostPastTheLine(nowMillis);
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

    /** Walks on from the cursor; frees the segment at its end. */
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

    /** Moves, evicts or reclaims one live item; false if there was no room to move it to and it may not go. */
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
        if (evicting && line.mayGo(expireAt) && mayGoNow(address) && line.isPast(location, address, expireAt, nowMillis)
                && evict(location, address)) {
            return true;
        }
        try {
            items.cleaning().move(location, address, nowMillis);
            bytesMoved += counting ? size : 0;
            return true;
        } catch (CacheFullException full) {
            return mayEvict && line.mayGo(expireAt) && evict(location, address);
        }
    }

    private boolean mayGoNow(long address) {
        return !ItemLayout.isTree(address) || nodes.mayLetOneGo();
    }

    /** False if the item is pinned. */
    private boolean evict(long location, long address) {
        // Before it goes: its header tells.
        long nodeBytes = ItemLayout.isTree(address) ? ShardTrees.nodeBytes(address) : 0;
        boolean gone = items.cleaning().evict(location, address);
        if (gone) {
            nodes.goes(nodeBytes);
        }
        return gone;
    }

    /** Of a few candidates the segment of which the largest share would be freed. */
    private int mostPastTheLine(long nowMillis) {
        int best = NONE;
        double bestShare = LEAST_GAIN;
        for (int i = 0; i < CANDIDATES; i++) {
            int candidate = switch (i) {
                case 0 -> cleaning.oldestSealed();
                case 1 -> cleaning.leastUtilized();
                case 2 -> line.isForSome() ? line.fullestSegment() : NONE;
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
     * The share of the segment that would be gained: dead, or past the line by a look at its first live items, of those that may be past it. Nothing if what is dead is nearly all
     * of it, where some are to go alone: to clean is not to let them go.
     */
    private double estimateFreed(int candidate, long nowMillis) {
        long looked = 0;
        long going = 0;
        long at = cleaning.nextLive(candidate, SegmentCleaning.firstOf(candidate));
        for (int probes = 0; at != Location.NONE && probes < PROBES; probes++) {
            long address = items.address(at);
            if (line.concerns(address)) {
                int weight = line.weighsClasses() ? ItemLayout.size(address) : 1;
                looked += weight;
                going += wouldGo(at, address, nowMillis) ? weight : 0;
            }
            at = cleaning.nextLive(candidate, cleaning.after(at));
        }
        double gone = line.bytesConcerned(candidate) * (looked == 0 ? line.shareGoing() : (double) going / looked);
        int extentBytes = segments.extentBytes(candidate);
        return line.isForSome() && gone < LEAST_GAIN * extentBytes
                ? 0
                : (segments.reclaimableBytes(candidate) + gone) / extentBytes;
    }

    private boolean wouldGo(long location, long address, long nowMillis) {
        if (ItemLayout.isInternal(address)) {
            return nodes.wouldGo(address, nowMillis);
        }
        long expireAt = TimedHashes.expireAtMillis(address);
        return items.timed().isGone(address, nowMillis)
                || line.mayGo(expireAt) && line.isPast(location, address, expireAt, nowMillis)
                        && !line.isPinned(location);
    }

    /** Whether a large item is to go rather than a segment's: as likely as their share of the bytes. */
    private boolean largeTurn() {
        long largeBytes = segments.largeBytes();
        return largeBytes > 0 && Long.remainderUnsigned(items.nextRandom(), segments.usedBytes()) < largeBytes;
    }

    /** Evicts a large item past the line, which frees its run at once; false if a sample of the large ones holds none. */
    private boolean evictLarge(long nowMillis) {
        for (int tries = 0; tries < Ranking.SAMPLE; tries++) {
            long location = items.sampler().large();
            if (location == Index.NONE) {
                return false;
            }
            long owner = nodes.ownerOf(location);
            if (owner != Index.NONE && evictIfPastTheLine(owner, nowMillis)) {
                return true;
            }
        }
        return false;
    }

    /**
     * What is past the line lies too thinly for any segment, or is large: it goes one by one, and leaves dead bytes for
     * the cleaner.
     */
    private boolean evictScattered(long nowMillis) {
        int gone = 0;
        long enough = items.sampler().inVain() + ItemSampler.MOST_IN_VAIN;
        for (int tries = 0; tries < 2 * Ranking.SAMPLE && gone < SCATTERED
                && items.sampler().inVain() < enough; tries++) {
            long location = line.sample(enough - items.sampler().inVain());
            if (location == Index.NONE) {
                break;
            }
            int counts = ItemLayout.isTree(items.address(location)) ? SCATTERED : 1;
            gone += evictIfPastTheLine(location, nowMillis) ? counts : 0;
        }
        return gone > 0;
    }

    private boolean evictIfPastTheLine(long location, long nowMillis) {
        long address = items.address(location);
        if (items.cleaning().isDetached(address)) {
            items.cleaning().reclaim(location, address);
            return true;
        }
        long expireAt = TimedHashes.expireAtMillis(address);
        return line.mayGo(expireAt) && line.isPast(location, address, expireAt, nowMillis)
                && items.cleaning().evict(location, address);
    }

    void addTo(ShardTotals totals) {
        totals.segmentsCleaned += segmentsCleaned;
        totals.bytesMoved += bytesMoved;
        totals.bytesReclaimed += bytesReclaimed;
        totals.reclaimCost += reclaimCost;
    }

    void resetStats() {
        segmentsCleaned = 0;
        bytesMoved = 0;
        bytesReclaimed = 0;
        reclaimCost = 0;
    }
}
