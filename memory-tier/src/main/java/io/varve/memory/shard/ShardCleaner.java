package io.varve.memory.shard;

import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.eviction.Ranking;
import io.varve.memory.index.Index;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Item;
import io.varve.memory.segment.ItemLayout;
import io.varve.memory.segment.Location;
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
 * otherwise, under pressure, the one among a few with the largest share of items past the line.
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
    private static final int CANDIDATES = 4;
    /** The clock is read once for so many items walked. */
    private static final int ITEMS_PER_CLOCK = 8;

    private final Shard shard;
    private final ShardContext context;
    private final Segments segments;
    private final Ranking ranking = new Ranking();

    private int segment = NONE;
    private long cursor;
    private boolean evicting;
    private EvictionPolicy policy = EvictionPolicy.NOEVICTION;

    private long segmentsCleaned;
    private long bytesMoved;
    private long bytesReclaimed;
    private double reclaimCost;

    ShardCleaner(Shard shard, ShardContext context, Segments segments) {
        this.shard = shard;
        this.context = context;
        this.segments = segments;
    }

    /**
     * One slice of work under pressure: cleans where enough is dead, else evicts as the policy says.
     *
     * @return false if nothing can be gained from this shard
     */
    public boolean pressureSlice(long nowMillis, long deadlineNanos) {
        if (segment == NONE && !beginUnderPressure(nowMillis)) {
            return evictLarge();
        }
        return walk(nowMillis, deadlineNanos);
    }

    /**
     * One slice of work without pressure: cleans a segment of which at least {@code deadShare} is dead.
     *
     * @return false if there is none
     */
    public boolean compactSlice(long nowMillis, long deadlineNanos, double deadShare) {
        if (segment == NONE) {
            int candidate = segments.mostProfitable(context.cleanerPolicy, nowMillis,
                    (int) (context.pool.segmentBytes() * deadShare));
            if (candidate == NONE) {
                return false;
            }
            begin(candidate, false);
        }
        return walk(nowMillis, deadlineNanos);
    }

    /** Whether a segment is half done. */
    public boolean busy() {
        return segment != NONE;
    }

    private boolean beginUnderPressure(long nowMillis) {
        policy = context.evictionPolicy;
        int segmentBytes = context.pool.segmentBytes();
        double worthMoving = policy.evicts() ? Ranking.worstShare(context.evictionSamples) : 1.0 / 32;
        int candidate = segments.mostProfitable(context.cleanerPolicy, nowMillis, (int) (segmentBytes * worthMoving));
        if (candidate != NONE) {
            begin(candidate, false);
            return true;
        }
        if (!policy.evicts() || !drawLine(nowMillis)) {
            return false;
        }
        if (segments.oldestSealed() == NONE && segments.closeHeads() == 0) {
            return false;
        }
        candidate = mostPastTheLine(nowMillis);
        if (candidate == NONE) {
            return false;
        }
        begin(candidate, true);
        return true;
    }

    private void begin(int candidate, boolean evict) {
        segments.beginClean(candidate);
        segment = candidate;
        evicting = evict;
        cursor = Segments.firstOf(candidate);
        reclaimCost += segments.utilization(candidate);
    }

    /** Walks on from the cursor; frees the segment at its end. */
    private boolean walk(long nowMillis, long deadlineNanos) {
        int untilClock = ITEMS_PER_CLOCK;
        for (long at = segments.nextLive(segment, cursor); at != Location.NONE; at = segments.nextLive(segment,
                cursor)) {
            long address = shard.address(at);
            int size = ItemLayout.size(address);
            cursor = at;
            if (!dispose(at, address, size, nowMillis)) {
                segments.abortClean(segment);
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
        segments.endClean(segment);
        bytesReclaimed += context.pool.segmentBytes();
        segmentsCleaned++;
        segment = NONE;
        return true;
    }

    /** Moves, evicts or reclaims one live item; false if there was no room to move it to and it may not go. */
    private boolean dispose(long location, long address, int size, long nowMillis) {
        long expireAt = ItemLayout.expireAtMillis(address);
        if (Shard.isPast(expireAt, nowMillis)) {
            shard.expireNow(location, address);
            return true;
        }
        if (evicting && mayGo(expireAt) && ranking.goes(score(address, expireAt, nowMillis))) {
            shard.evict(location, address);
            return true;
        }
        try {
            shard.move(location, address, nowMillis);
            bytesMoved += size;
            return true;
        } catch (CacheFullException full) {
            if (policy.evicts() && mayGo(expireAt)) {
                shard.evict(location, address);
                return true;
            }
            return false;
        }
    }

    private boolean mayGo(long expireAt) {
        return !policy.onlyVolatile() || expireAt != Item.NEVER;
    }

    private long score(long address, long expireAt, long nowMillis) {
        return Ranking.score(policy, ItemLayout.access(address), expireAt, nowMillis, shard.nextRandom());
    }

    /** Samples the shard for the line; false if no item may go. With a random policy every item may. */
    private boolean drawLine(long nowMillis) {
        ranking.begin();
        for (int tries = 0; ranking.wantsMore() && tries < 2 * Ranking.SAMPLE; tries++) {
            long location = policy.onlyVolatile() ? shard.sampleExpiring() : shard.sampleAny();
            if (location == Index.NONE) {
                break;
            }
            long address = shard.address(location);
            ranking.draw(score(address, ItemLayout.expireAtMillis(address), nowMillis));
        }
        boolean random = policy == EvictionPolicy.ALLKEYS_RANDOM || policy == EvictionPolicy.VOLATILE_RANDOM;
        // A whole segment is as random a choice as any of its items, and costs no copy.
        return random ? ranking.drawLineBelowAll() : ranking.drawLine(context.evictionSamples);
    }

    /** Of a few candidates the segment of which the largest share would be freed. */
    private int mostPastTheLine(long nowMillis) {
        int best = NONE;
        double bestShare = 0;
        for (int i = 0; i < CANDIDATES; i++) {
            int candidate = switch (i) {
                case 0 -> segments.oldestSealed();
                case 1 -> segments.leastUtilized();
                default -> segments.randomSealed(shard.random());
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

    /** The share of the segment that would be freed: dead, or past the line by a look at its first live items. */
    private double estimateFreed(int candidate, long nowMillis) {
        int looked = 0;
        int going = 0;
        long at = segments.nextLive(candidate, Segments.firstOf(candidate));
        while (at != Location.NONE && looked < PROBES) {
            long address = shard.address(at);
            long expireAt = ItemLayout.expireAtMillis(address);
            looked++;
            if (mayGo(expireAt) && ranking.goes(score(address, expireAt, nowMillis))) {
                going++;
            }
            at = segments.nextLive(candidate, segments.after(at));
        }
        double live = (double) segments.liveBytes(candidate) / context.pool.segmentBytes();
        return looked == 0 ? 1.0 : 1.0 - live * (looked - going) / looked;
    }

    /** Where no segment is left to gain from, large items may be: each frees its run at once. */
    private boolean evictLarge() {
        if (!policy.evicts() || shard.largeCount() == 0) {
            return false;
        }
        for (int tries = 0; tries < 4 * Ranking.SAMPLE; tries++) {
            long location = policy.onlyVolatile() ? shard.sampleExpiring() : shard.sampleAny();
            if (location == Index.NONE) {
                return false;
            }
            if (Location.isLarge(location)) {
                long address = shard.address(location);
                if (mayGo(ItemLayout.expireAtMillis(address))) {
                    shard.evict(location, address);
                    return true;
                }
            }
        }
        return false;
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
