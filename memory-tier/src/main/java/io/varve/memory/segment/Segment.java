package io.varve.memory.segment;

import java.util.Arrays;

import io.varve.memory.item.Item;
import org.jspecify.annotations.Nullable;

/**
 * The accounts of one segment: its state, its appended and live bytes, and the sums for its mean lifetime. Guarded by
 * the lock of the owning shard; while the segment is free, by the pool's lock.
 *
 * <p>There is one object for each segment, so their number depends on the pool and not on the keys.
 */
final class Segment {
    /** The slot of a segment without an owner. */
    static final int NO_SLOT = -1;

    /** An item without an expiry time counts with the time since its last write, but at most this. */
    static final long MAX_AGE_MILLIS = 3_600_000;

    /**
     * Later expiry times count as this one (the year 2248). The sum over up to 2^19 items of 18 bytes in a segment of 8
     * MiB then stays below 2^63.
     */
    static final long MAX_SUMMED_MILLIS = 1L << 43;

    /** With at most this many overwrites, the sum of their times does not overflow. */
    private static final int MAX_OVERWRITES = 1 << 20;

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
    /** Overwrites in place that {@link #writtenAtSum} does not include yet: each inclusion takes a division. */
    private int overwrites;
    private long overwrittenAtSum;
    private long lastAppendMillis;
    private long sealOrder;
    /** Whether it was sealed before it was full, so that its unused bytes count as a gain. */
    private boolean closedEarly;
    /** Bytes of its live items by penalty class, except class 0; null while it had none of another class. */
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

    /** The bytes of the segment, from its start, that may be filled, are charged to the budget and may be resident. */
    int extentBytes() {
        return extentBytes;
    }

    /** Set by the pool when it hands out the segment and when it returns its pages to the system. */
    void extentBytes(int newExtentBytes) {
        extentBytes = newExtentBytes;
    }

    int usedBytes() {
        return usedBytes;
    }

    boolean hasSpace(int size) {
        return size <= extentBytes - usedBytes;
    }

    /** The utilization u: live bytes divided by the extent. */
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

    /** Increases with each sealing of the shard: the smallest is the oldest. */
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

    /** @param early whether it is sealed before it is full */
    void seal(long order, boolean early) {
        state = state.seal();
        sealOrder = order;
        closedEarly = early;
    }

    /**
     * The gain of moving its live items to another segment: its dead bytes, and the unused bytes at its end. The latter
     * do not count if the next item did not fit, because the same items would leave as much unused elsewhere.
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
        detach(state.endClean());
    }

    void free() {
        detach(state.free());
    }

    private void detach(SegmentState free) {
        if (liveItems != 0) {
            throw new IllegalStateException("Segment " + id + " cannot be freed: " + liveItems + " live items");
        }
        state = free;
        owner = null;
        slot = NO_SLOT;
        empty();
    }

    /** Resets an open segment without live items, so that it is filled again from its start. */
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

    /**
     * Places an item at the end. It counts as live at once, so that nothing frees the segment before the item is
     * written.
     */
    int append(int size, long nowMillis) {
        assert state == SegmentState.OPEN : state;
        int offset = usedBytes;
        usedBytes += size;
        liveBytes += size;
        liveItems++;
        lastAppendMillis = nowMillis;
        return offset;
    }

    /** Grows or shrinks the last item. */
    void resizeTail(int difference) {
        assert state == SegmentState.OPEN : state;
        usedBytes += difference;
        liveBytes += difference;
    }

    /** Frees the bytes of the last item, which is dead, for the next. */
    void dropTail(int size) {
        assert state == SegmentState.OPEN : state;
        usedBytes -= size;
    }

    /** Adds a number of bytes, possibly negative, to a penalty class. */
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
                // Class 0 is the rest.
                bytes += (classes[i] ? counted[i] : 0) - (classes[0] ? counted[i] : 0);
            }
        }
        return bytes;
    }

    void itemRemoved(int size) {
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

    /** Updates the sum for an expiring item that has another time. */
    void expiryMoved(long oldMillis, long newMillis) {
        expireAtSum += Math.min(newMillis, MAX_SUMMED_MILLIS) - Math.min(oldMillis, MAX_SUMMED_MILLIS);
    }

    /**
     * Records that items without an expiry time were overwritten in place: their old write times, estimated by the
     * mean, are replaced by the present.
     */
    void overwritten(long nowMillis, int count) {
        overwrittenAtSum += nowMillis * count;
        overwrites += count;
        if (overwrites >= MAX_OVERWRITES) {
            settleOverwrites();
        }
    }

    /**
     * Applies the overwrites: after k overwrites of n items, a share (1-1/n)^k of the old mean is left. The rest has
     * the mean time of the overwrites.
     */
    private void settleOverwrites() {
        double left = Math.pow(1 - 1.0 / lastingItems, overwrites);
        double mean = left * ((double) writtenAtSum / lastingItems)
                + (1 - left) * ((double) overwrittenAtSum / overwrites);
        writtenAtSum = Math.round(mean * lastingItems);
        overwrites = 0;
        overwrittenAtSum = 0;
    }

    /** An item's own write time is not stored: the mean is subtracted. */
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

    /** The mean write time of the items without an expiry time; 0 if there is none. */
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
     * The mean lifetime of the live items, in milliseconds. For an item with an expiry time it is the time until then,
     * or since then if it is past. For one without, it is the time since its last write, at most an hour.
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
