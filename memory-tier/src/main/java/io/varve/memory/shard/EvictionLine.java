package io.varve.memory.shard;

import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.eviction.PinnedKeys;
import io.varve.memory.eviction.Ranking;
import io.varve.memory.index.Index;
import io.varve.memory.item.Item;
import io.varve.memory.locality.PenaltyRanges;
import io.varve.memory.segment.ItemLayout;
import io.varve.memory.segment.Location;
import io.varve.memory.segment.Segments;
import org.jspecify.annotations.Nullable;

/**
 * Which of a shard's items are past the line: the policy, applied to where they lie. Guarded by the shard's lock.
 *
 * <p>A node is judged as its root item is. Whatever decides between equals is drawn once for a collection, not for each of its
 * nodes: else the largest would always go first.
 */
final class EvictionLine {
    /** Odd, and without a pattern: makes a location look like a number drawn at random. */
    private static final long SPREAD = 0x9E37_79B9_7F4A_7C15L;
    /** Of a shard of a few segments, one is too much. */
    private static final int LEAST_SLACK_PART = 16;
    /**
     * Classes that are over their shares, and have less than one part in so many of all bytes, do not go alone: to empty segments of them would move more bytes
     * for each that is gained.
     */
    private static final int LEAST_PART_ALONE = 16;

    /** How long a large item counts as one that came just now: as long as ticks of the access clock are apart. */
    private static final long FRESH_MILLIS = 1000;

    private final ShardItems items;
    private final ShardContext context;
    private final Ranking ranking = new Ranking();
    private EvictionPolicy policy = EvictionPolicy.NOEVICTION;
    /** What each class of penalty may have of what all items have; null if that plays no part. */
    private double @Nullable [] shares;
    /** By class, the first of those with which it has what they may have together. */
    private int[] groups;
    /**
     * Which classes had more than their share when the line was drawn. What others get above theirs because these shrink is for the next
     * line: this one has not seen them among those that go first.
     */
    private final boolean[] over = new boolean[PenaltyRanges.MOST];
    /** Whether nobody goes but who is of one of those. */
    private boolean alone;

    EvictionLine(ShardItems items, ShardContext context) {
        this.items = items;
        this.context = context;
        groups = context.groups;
    }

    /** The policy may change at any time; the line was drawn through scores of the one before. True if it has changed. */
    boolean follow(EvictionPolicy now) {
        boolean changed = policy != now;
        policy = now;
        shares = now == EvictionPolicy.ALLKEYS_PENALTY ? context.shares : null;
        groups = context.groups;
        return changed;
    }

    boolean evicts() {
        return policy.evicts();
    }

    /** A whole segment is as random a choice as any of its items. */
    boolean isRandom() {
        return policy == EvictionPolicy.ALLKEYS_RANDOM || policy == EvictionPolicy.VOLATILE_RANDOM;
    }

    /** Samples the shard for the line; false if no item may go. With a random policy every item may. */
    boolean draw(long nowMillis) {
        ranking.begin();
        noteWhoIsOver();
        long enough = items.sampler().inVain() + ItemSampler.MOST_IN_VAIN;
        for (int tries = 0; ranking.wantsMore() && tries < 2 * Ranking.SAMPLE
                && items.sampler().inVain() < enough; tries++) {
            long location = sample(enough - items.sampler().inVain());
            if (location == Index.NONE) {
                break;
            }
            long address = items.address(location);
            long expireAt = TimedHashes.expireAtMillis(address);
            if (mayGo(expireAt) && !isPinned(location)) {
                ranking.draw(score(location, address, expireAt, nowMillis, items.nextRandom()));
            }
        }
        if (isRandom()) {
            return ranking.drawLineBelowAll();
        }
        if (shares == null) {
            return ranking.drawLine(context.evictionSamples);
        }
        return alone
                ? ranking.drawLineOfFirst(context.evictionSamples)
                : ranking.drawLineBehindFirst(context.evictionSamples);
    }

    /** Whether nobody goes except from classes that are over their shares. */
    boolean isForSome() {
        return alone;
    }

    /** Of those who alone are to go nobody is where something can be gained: for this time others go with them. */
    void drawThroughAll() {
        alone = false;
        ranking.drawLineBehindFirst(context.evictionSamples);
    }

    /** The sealed segment that was sealed first of those in which those who alone are to go have nearly the most. */
    int fullestSegment() {
        return items.segments().cleaning().fullestOf(over);
    }

    /** Whether some go first: these may be many and take little, so what is gained goes by bytes. */
    boolean weighsClasses() {
        return shares != null;
    }

    /** Whether an item may be past the line at all, whatever its score. */
    boolean concerns(long address) {
        return !alone || over[ItemLayout.penaltyClass(address)];
    }

    /** Bytes of the live items of a segment that the line {@link #concerns}. */
    long bytesConcerned(int segment) {
        return alone ? items.segments().cleaning().classBytes(segment, over) : items.segments().liveBytes(segment);
    }

    /** Which share of those that the line {@link #concerns} is past it, as far as the sample tells. */
    double shareGoing() {
        return alone ? ranking.goingOfFirst() : Ranking.worstShare(context.evictionSamples);
    }

    /**
     * An item drawn at random, of those that have times only where others may not go.
     *
     * @param most how many are looked at for one of those
     */
    long sample(long most) {
        return policy.onlyVolatile() ? items.sampler().expiring(most) : items.sampler().any();
    }

    boolean mayGo(long expireAt) {
        return !policy.onlyVolatile() || expireAt != Item.NEVER;
    }

    /** Whether a command works on the item's key: it is spared, and {@link ItemCleaning#evict} does not evict it. */
    boolean isPinned(long location) {
        PinnedKeys pins = context.pins;
        return pins.isAny() && pins.contains(items.verifier().hashOf(location));
    }

    /** Whether an item is past the line; it may go. */
    boolean isPast(long location, long address, long expireAt, long nowMillis) {
        return ranking.goes(score(location, address, expireAt, nowMillis, items.nextRandom()));
    }

    private long score(long location, long address, long expireAt, long nowMillis, long random) {
        if (policy == EvictionPolicy.ALLKEYS_HYPERBOLIC) {
            return Ranking.hyperbolic(items.access().residence(address), costOf(address), items.access().ticks(),
                    random);
        }
        long bits = isRandom() ? random : Ranking.tieBits(isFresh(location, address, nowMillis), random);
        long score = Ranking.score(policy, items.access().known(address, nowMillis), expireAt, nowMillis, bits);
        double[] divided = shares;
        return divided != null && goesFirst(ItemLayout.penaltyClass(address), divided)
                ? score + Ranking.FIRST
                : score;
    }

    /**
     * A class is over its share from a segment more than it on, and then until it has no more than it. Shares are all of the memory: else there would always be one
     * class or another that is over by an item, and whole segments would be emptied of a few.
     */
    private void noteWhoIsOver() {
        double[] divided = shares;
        Segments segments = items.segments();
        long slack = Math.min(context.pool.segmentBytes(), segments.liveBytes() / LEAST_SLACK_PART);
        long bytesOfThem = 0;
        for (int i = 0; i < over.length; i++) {
            over[i] = divided != null && i < divided.length
                    && bytesOver(i, divided) > slack;
            bytesOfThem += over[i] ? segments.classBytes(i) : 0;
        }
        alone = bytesOfThem > 0 && bytesOfThem >= segments.liveBytes() / LEAST_PART_ALONE;
    }

    private boolean goesFirst(int penaltyClass, double[] divided) {
        return over[penaltyClass] && penaltyClass < divided.length && bytesOver(penaltyClass, divided) > 0;
    }

    /**
     * Whether a large item or a collection was written within the last second. Access clocks count seconds, and all
     * frequencies begin with one number, so under many writes such an item ties with the others. As the only large one it
     * would be drawn each time. Small fresh items lie in open segments, which eviction does not empty; the nodes of a
     * collection fill several segments.
     */
    private boolean isFresh(long location, long address, long nowMillis) {
        Segments segments = items.segments();
        if (Location.isLarge(location)) {
            return nowMillis - segments.adoptedMillis(location) < FRESH_MILLIS;
        }
        return ItemLayout.isTree(address)
                && nowMillis - segments.meanWrittenAtMillis(Location.segment(location)) < FRESH_MILLIS;
    }

    /** What a miss of the item costs; the same for all while nobody knows. */
    private double costOf(long address) {
        double[] micros = context.missMicros;
        return micros == null ? 1 : micros[Math.min(ItemLayout.penaltyClass(address), micros.length - 1)];
    }

    /** What the items of a class, and of those of its group, have beyond their share: of this shard, as keys fall evenly into all of them. */
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

    /** Whether the root item at a location may go and is past the line, as each of its nodes finds. */
    boolean isOwnerPast(long root, long nowMillis) {
        long address = items.address(root);
        long expireAt = TimedHashes.expireAtMillis(address);
        return mayGo(expireAt) && ranking.goes(score(root, address, expireAt, nowMillis, root * SPREAD));
    }
}
