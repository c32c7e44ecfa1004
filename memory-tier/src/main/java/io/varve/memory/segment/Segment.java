package io.varve.memory.segment;

import java.util.Arrays;

import io.varve.memory.item.Item;
import org.jspecify.annotations.Nullable;

/**
 * What is known of one segment: its state, what is appended and what lives in it, and the sums that its mean lifetime
 * comes from. Guarded by the lock of the shard that has it; while it is free, by the pool's.
 *
 * <p>One object for each segment, bounded by the pool and not by the keys.
 */
final class Segment {
    /** A segment without owner has no slot in the owner's list. */
    static final int NO_SLOT = -1;

    /** An item without an expiry time counts with the time since its last write, but at most this. */
    static final long MAX_AGE_MILLIS = 3_600_000;

    /**
     * Later expiry times count as this one (the year 2248), so that the sum over the up to 2^19 items of 18 bytes in a
     * segment of 8 MiB stays below 2^63.
     */
    static final long MAX_SUMMED_MILLIS = 1L << 43;

    /** So many moments can be summed up as well. */
    private static final int MOST_OVERWRITES = 1 << 20;

    private final int id;
    private SegmentState state = SegmentState.FREE;
    private @Nullable Segments owner;
    private int slot = NO_SLOT;
    private int lifetimeClass;
    private int extentBytes;
    private int usedBytes;
    private int liveBytes;
    private int liveItems;
    private int expiringItems;
    private long expireAtSum;
    private int lastingItems;
    private long writtenAtSum;
    /** Overwrites in place that {@link #writtenAtSum} does not know of yet: each takes a division. */
    private int overwrites;
    private long overwrittenAtSum;
    private long lastAppendMillis;
    private long sealOrder;
    /** Whether it was sealed before it was full, so that what is unused of it is worth gaining. */
    private boolean closedEarly;
    /** Bytes of its live items by penalty class, but for the first; null as long as it had none of another. */
    private int @Nullable [] classBytes;

    Segment(int id) {
        this.id = id;
    }

    int id() {
        return id;
    }

    SegmentState state() {
        return state;
    }

    @Nullable
    Segments owner() {
        return owner;
    }

    int slot() {
        return slot;
    }

    void slot(int slot) {
        this.slot = slot;
    }

    int lifetimeClass() {
        return lifetimeClass;
    }

    /** How much of it, from its start, may be filled, is charged to the budget and may be resident. */
    int extentBytes() {
        return extentBytes;
    }

    /** Set by the pool when it hands the segment out and when it gives its pages back. */
    void extentBytes(int newExtentBytes) {
        extentBytes = newExtentBytes;
    }

    int usedBytes() {
        return usedBytes;
    }

    boolean hasRoom(int size) {
        return size <= extentBytes - usedBytes;
    }

    /** u: live bytes over what may be filled. */
    double utilization() {
        return (double) liveBytes / extentBytes;
    }

    int liveBytes() {
        return liveBytes;
    }

    int liveItems() {
        return liveItems;
    }

    int expiringItems() {
        return expiringItems;
    }

    long expireAtSum() {
        return expireAtSum;
    }

    int lastingItems() {
        return lastingItems;
    }

    long lastAppendMillis() {
        return lastAppendMillis;
    }

    /** Grows with each sealing of the shard: the smallest is the oldest. */
    long sealOrder() {
        return sealOrder;
    }

    void open(Segments newOwner, int newSlot, int newLifetimeClass, long nowMillis) {
        state = state.open();
        owner = newOwner;
        slot = newSlot;
        lifetimeClass = newLifetimeClass;
        lastAppendMillis = nowMillis;
        empty();
    }

    /**
     * @param early before it was full
     */
    void seal(long order, boolean early) {
        state = state.seal();
        sealOrder = order;
        closedEarly = early;
    }

    /**
     * What moving its live items to another segment gains: its dead bytes; and what is unused at its end, unless the next
     * item did not fit there, because then the same items leave as much unused wherever they are put.
     */
    int reclaimableBytes() {
        return (closedEarly ? extentBytes : usedBytes) - liveBytes;
    }

    void beginClean() {
        state = state.beginClean();
    }

    void abortClean() {
        state = state.abortClean();
    }

    void endClean() {
        disown(state.endClean());
    }

    void free() {
        disown(state.free());
    }

    private void disown(SegmentState free) {
        if (liveItems != 0) {
            throw new IllegalStateException("Segment " + id + " cannot be freed: " + liveItems + " items live in it");
        }
        state = free;
        owner = null;
        slot = NO_SLOT;
        empty();
    }

    /** Nothing lives in an open head: it is filled again from its start. */
    void reset() {
        assert state == SegmentState.OPEN && liveItems == 0;
        empty();
    }

    private void empty() {
        usedBytes = 0;
        liveBytes = 0;
        expiringItems = 0;
        expireAtSum = 0;
        lastingItems = 0;
        writtenAtSum = 0;
        overwrites = 0;
        overwrittenAtSum = 0;
        assert classBytes == null || Arrays.stream(classBytes).allMatch(bytes -> bytes == 0)
                : Arrays.toString(classBytes);
    }

    /** An item is placed at the end: it lives from now on, so that nothing frees the segment before it is written. */
    int append(int size, long nowMillis) {
        assert state == SegmentState.OPEN : state;
        int offset = usedBytes;
        usedBytes += size;
        liveBytes += size;
        liveItems++;
        lastAppendMillis = nowMillis;
        return offset;
    }

    /** The last item grows or shrinks. */
    void resizeTail(int difference) {
        assert state == SegmentState.OPEN : state;
        usedBytes += difference;
        liveBytes += difference;
    }

    /** The last item is dead, and its place is given to the next. */
    void dropTail(int size) {
        assert state == SegmentState.OPEN : state;
        usedBytes -= size;
    }

    /** Live items of a penalty class take so much more, which may be negative. */
    void addToClass(int penaltyClass, int more) {
        if (penaltyClass != 0) {
            int[] counted = classBytes;
            if (counted == null) {
                counted = new int[ItemLayout.MAX_PENALTY_CLASS + 1];
                classBytes = counted;
            }
            counted[penaltyClass] += more;
            assert counted[penaltyClass] >= 0 : "class " + penaltyClass + " has " + counted[penaltyClass] + " bytes";
        }
    }

    /** Bytes of the live items of some penalty classes. */
    int classBytes(boolean[] classes) {
        int[] counted = classBytes;
        int bytes = classes[0] ? liveBytes : 0;
        if (counted != null) {
            for (int i = 1; i < counted.length; i++) {
                // The first class has what the others have not.
                bytes += (classes[i] ? counted[i] : 0) - (classes[0] ? counted[i] : 0);
            }
        }
        return bytes;
    }

    void died(int size) {
        liveBytes -= size;
        liveItems--;
        assert liveBytes >= 0 && liveItems >= 0 : liveBytes + " " + liveItems;
    }

    void addLifetime(long expireAtMillis, long writtenAtMillis) {
        if (expireAtMillis == Item.NEVER) {
            lastingItems++;
            writtenAtSum += writtenAtMillis;
        } else {
            expiringItems++;
            expireAtSum += Math.min(expireAtMillis, MAX_SUMMED_MILLIS);
        }
    }

    /** An expiring item has another time. */
    void expiryMoved(long oldMillis, long newMillis) {
        expireAtSum += Math.min(newMillis, MAX_SUMMED_MILLIS) - Math.min(oldMillis, MAX_SUMMED_MILLIS);
    }

    /** One of the items without an expiry time was written anew in place: the mean goes, and now comes. */
    void overwritten(long nowMillis) {
        overwrittenAtSum += nowMillis;
        if (++overwrites == MOST_OVERWRITES) {
            settleOverwrites();
        }
    }

    /** After k overwrites of n items a share (1-1/n)^k of the old mean is left; the rest was written when they were. */
    private void settleOverwrites() {
        double left = Math.pow(1 - 1.0 / lastingItems, overwrites);
        double mean = left * ((double) writtenAtSum / lastingItems)
                + (1 - left) * ((double) overwrittenAtSum / overwrites);
        writtenAtSum = Math.round(mean * lastingItems);
        overwrites = 0;
        overwrittenAtSum = 0;
    }

    /** An item's own write time is not stored: the mean goes. */
    void removeLifetime(long expireAtMillis) {
        if (expireAtMillis == Item.NEVER) {
            writtenAtSum -= meanWrittenAtMillis();
            lastingItems--;
            assert lastingItems >= 0;
        } else {
            expiringItems--;
            expireAtSum -= Math.min(expireAtMillis, MAX_SUMMED_MILLIS);
            assert expiringItems >= 0;
        }
    }

    /** When the items without an expiry time were written, on the mean; 0 if there is none. */
    long meanWrittenAtMillis() {
        if (lastingItems == 0) {
            return 0;
        }
        if (overwrites > 0) {
            settleOverwrites();
        }
        return writtenAtSum / lastingItems;
    }

    /**
     * How long the live items last, on the mean, milliseconds: the time to its expiry for an item that has one (since, if
     * it is past), the time since its last write, at most an hour, for one that has none.
     */
    double meanLifetimeMillis(long nowMillis) {
        int items = expiringItems + lastingItems;
        if (items == 0) {
            return 0;
        }
        double sum = 0;
        if (expiringItems > 0) {
            sum += Math.abs((double) expireAtSum - (double) nowMillis * expiringItems);
        }
        if (lastingItems > 0) {
            sum += (double) Math.clamp(nowMillis - meanWrittenAtMillis(), 0, MAX_AGE_MILLIS) * lastingItems;
        }
        return sum / items;
    }
}
