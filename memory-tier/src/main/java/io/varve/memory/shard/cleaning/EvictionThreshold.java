package io.varve.memory.shard.cleaning;

import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.eviction.PinnedKeys;
import io.varve.memory.eviction.Ranking;
import io.varve.memory.index.Index;
import io.varve.memory.item.Item;
import io.varve.memory.locality.partition.PenaltyRanges;
import io.varve.memory.segment.ItemLayout;
import io.varve.memory.segment.Location;
import io.varve.memory.segment.Segments;
import io.varve.memory.shard.context.ClassShares;
import io.varve.memory.shard.context.ShardContext;
import io.varve.memory.shard.item.ItemSampler;
import io.varve.memory.shard.item.ShardItems;
import io.varve.memory.shard.item.TimedHashes;
import org.jspecify.annotations.Nullable;

/**
 * Decides which of a shard's items are past the eviction threshold under the present policy. Guarded by the shard's
 * lock.
 *
 * <p>A node is judged by its root item. The random bits that break ties are chosen once for a collection, not for each
 * of its nodes. Otherwise the largest collection would always be evicted first.
 */
final class EvictionThreshold {
    /** Pinned items that a sample passes over. Small ones may be nearly all items of a shard, but few of its bytes. */
    private static final int MAX_PINNED_SAMPLES = 64 * Ranking.SAMPLE;

    /** An odd number without a pattern: it makes a location look like a random number. */
    private static final long SPREAD = 0x9E37_79B9_7F4A_7C15L;
    /** For a shard with few segments, a slack of one segment would be too much. */
    private static final int MIN_SLACK_PART = 16;
    /**
     * If the classes over their shares have less than this part of all bytes, they are not evicted alone: emptying
     * segments of them would move more bytes for each one gained.
     */
    private static final int MIN_PART_ALONE = 16;

    /** How long a large item counts as new: the distance between two ticks of the access clock. */
    private static final long FRESH_MILLIS = 1000;

    private final ShardItems items;
    private final ShardContext context;
    private final Ranking ranking = new Ranking();
    private EvictionPolicy policy = EvictionPolicy.NOEVICTION;
    /** The share of each penalty class in the bytes of all items; null if the policy does not use shares. */
    private double @Nullable [] shares;
    /** By class, the first class of the group with which it has a common share. */
    private int[] groups;
    /**
     * The classes that exceeded their share when the threshold was computed. A class that exceeds its share because
     * these shrink counts at the next threshold: this one did not sample it as such.
     */
    private final boolean[] over = new boolean[PenaltyRanges.MAX_CLASSES];
    /** Whether only items of those classes are evicted. */
    private boolean alone;

    EvictionThreshold(ShardItems items, ShardContext context) {
        this.items = items;
        this.context = context;
        groups = context.classShares().groups();
    }

    /**
     * Adopts the present policy, which may change at any time; the threshold uses scores of the previous one.
     *
     * @return whether it has changed
     */
    boolean follow(EvictionPolicy now) {
        boolean changed = policy != now;
        policy = now;
        ClassShares classShares = context.classShares();
        shares = now == EvictionPolicy.ALLKEYS_PENALTY ? classShares.shares() : null;
        groups = classShares.groups();
        return changed;
    }

    boolean evicts() {
        return policy.evicts();
    }

    /** With a random policy, a whole segment is as random a choice as any of its items. */
    boolean isRandom() {
        return policy == EvictionPolicy.ALLKEYS_RANDOM || policy == EvictionPolicy.VOLATILE_RANDOM;
    }

    /**
     * Samples the shard and computes the threshold; false if no item may be evicted. With a random policy every item is
     * past it.
     */
    boolean update(long nowMillis) {
        ranking.begin();
        findClassesOverShare();
        long enough = items.sampler().failures() + ItemSampler.MAX_FAILURES;
        int pinned = 0;
        int tries = 0;
        while (ranking.needsMore() && tries < 2 * Ranking.SAMPLE && pinned < MAX_PINNED_SAMPLES
                && items.sampler().failures() < enough) {
            long location = sample(enough - items.sampler().failures());
            if (location == Index.NONE) {
                break;
            }
            if (isPinned(location)) {
                pinned++;
                continue;
            }
            tries++;
            long address = items.address(location);
            long expireAt = TimedHashes.expireAtMillis(address);
            if (isEvictable(expireAt)) {
                ranking.add(score(location, address, expireAt, nowMillis, items.nextRandom()));
            }
        }
        if (isRandom()) {
            return ranking.setThresholdBelowAll();
        }
        if (shares == null) {
            return ranking.setThreshold(context.settings().evictionSamples());
        }
        return alone
                ? ranking.setThresholdOfFirst(context.settings().evictionSamples())
                : ranking.setThresholdBehindFirst(context.settings().evictionSamples());
    }

    /** Whether only classes over their shares are evicted. */
    boolean isForSomeClasses() {
        return alone;
    }

    /** Recomputes the threshold for all classes, after evicting the classes over their shares alone gained nothing. */
    void extendToAllClasses() {
        alone = false;
        ranking.setThresholdBehindFirst(context.settings().evictionSamples());
    }

    /**
     * Among the sealed segments with nearly the most bytes of the classes that are evicted alone, the one sealed first.
     */
    int fullestSegment() {
        return items.segments().cleaning().fullestOf(over);
    }

    /** Whether some classes are evicted first. Their items may be many and small, so gains are measured in bytes. */
    boolean weighsClasses() {
        return shares != null;
    }

    /** Whether an item may be past the threshold at all, whatever its score. */
    boolean concerns(long address) {
        return !alone || over[ItemLayout.penaltyClass(address)];
    }

    /** Bytes of a segment's live items that the threshold {@link #concerns}. */
    long bytesConcerned(int segment) {
        return alone ? items.segments().cleaning().classBytes(segment, over) : items.segments().liveBytes(segment);
    }

    /** The share of the items that the threshold {@link #concerns} and that are past it, estimated from the sample. */
    double shareEvicted() {
        return alone ? ranking.evictedShareOfFirst() : Ranking.worstShare(context.settings().evictionSamples());
    }

    /**
     * Samples a random item; one with an expiry time if the policy evicts only those.
     *
     * @param max the most items to read in search of one with an expiry time
     */
    long sample(long max) {
        return policy.onlyVolatile() ? items.sampler().expiring(max) : items.sampler().any();
    }

    boolean isEvictable(long expireAt) {
        return !policy.onlyVolatile() || expireAt != Item.NEVER;
    }

    /**
     * Whether the item is pinned, or a command works on its key:
     * {@link io.varve.memory.shard.item.ItemCleaning#evict} does not evict it then.
     */
    boolean isPinned(long location) {
        PinnedKeys pins = context.pins;
        return ItemLayout.isPinned(items.address(location))
                || pins.isAny() && pins.contains(items.verifier().hashOf(location));
    }

    /** Whether an item that may be evicted is past the threshold. */
    boolean isPastThreshold(long location, long address, long expireAt, long nowMillis) {
        return ranking.isEvicted(score(location, address, expireAt, nowMillis, items.nextRandom()));
    }

    private long score(long location, long address, long expireAt, long nowMillis, long random) {
        if (policy == EvictionPolicy.ALLKEYS_HYPERBOLIC) {
            return Ranking.hyperbolic(items.access().residence(address), costOf(address), items.access().ticks(),
                    random);
        }
        long bits = isRandom() ? random : Ranking.tieBits(isFresh(location, address, nowMillis), random);
        long score = Ranking.score(policy, items.access().currentBits(address, nowMillis), expireAt, nowMillis, bits);
        double[] divided = shares;
        return divided != null && isEvictedFirst(ItemLayout.penaltyClass(address), divided)
                ? score + Ranking.FIRST
                : score;
    }

    /**
     * Finds the classes over their share. A class counts once it exceeds its share by a segment, and then until it is
     * within its share again. Shares sum to all of the memory, so without this slack some class would always exceed its
     * share by an item, and whole segments would be emptied for a few items.
     */
    private void findClassesOverShare() {
        double[] divided = shares;
        Segments segments = items.segments();
        long slack = Math.min(context.pool.segmentBytes(), segments.liveBytes() / MIN_SLACK_PART);
        long bytesOfThem = 0;
        for (int i = 0; i < over.length; i++) {
            over[i] = divided != null && i < divided.length
                    && bytesOver(i, divided) > slack;
            bytesOfThem += over[i] ? segments.classBytes(i) : 0;
        }
        alone = bytesOfThem > 0 && bytesOfThem >= segments.liveBytes() / MIN_PART_ALONE;
    }

    private boolean isEvictedFirst(int penaltyClass, double[] divided) {
        return over[penaltyClass] && penaltyClass < divided.length && bytesOver(penaltyClass, divided) > 0;
    }

    /**
     * Whether a large item or a collection was written within the last second. Access clocks count seconds, and all
     * frequencies begin with one number, so under many writes such an item ties with the others. As the only large one
     * it would be sampled each time. Small fresh items lie in open segments, which eviction does not empty; the nodes
     * of a collection fill several segments.
     */
    private boolean isFresh(long location, long address, long nowMillis) {
        Segments segments = items.segments();
        if (Location.isLarge(location)) {
            return nowMillis - segments.adoptedMillis(location) < FRESH_MILLIS;
        }
        return ItemLayout.isTree(address)
                && nowMillis - segments.meanWrittenAtMillis(Location.segment(location)) < FRESH_MILLIS;
    }

    /** The cost of a miss of the item; equal for all items while it is unknown. */
    private double costOf(long address) {
        double[] micros = context.missMicros();
        return micros == null ? 1 : micros[Math.min(ItemLayout.penaltyClass(address), micros.length - 1)];
    }

    /**
     * The bytes of a class's group beyond its share, within this shard: keys are distributed evenly over the shards.
     */
    private double bytesOver(int penaltyClass, double[] divided) {
        Segments segments = items.segments();
        int group = groups[penaltyClass];
        double over = 0;
        for (int i = group; i < divided.length; i++) {
            if (groups[i] == group) {
                over += segments.classBytes(i) - divided[i] * segments.liveBytes();
            }
        }
        return over;
    }

    /**
     * Whether the root item at a location may be evicted and is past the threshold; all of its nodes get this result.
     */
    boolean isRootPastThreshold(long root, long nowMillis) {
        long address = items.address(root);
        long expireAt = TimedHashes.expireAtMillis(address);
        return isEvictable(expireAt) && ranking.isEvicted(score(root, address, expireAt, nowMillis, root * SPREAD));
    }
}
