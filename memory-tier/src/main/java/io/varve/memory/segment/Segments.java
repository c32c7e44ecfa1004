package io.varve.memory.segment;

import java.util.function.Consumer;

import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Item;

/**
 * The segments of one shard: its open segments, its sealed segments, and their live items. Guarded by the shard's lock.
 *
 * <p>An item is created in three steps: {@link #append} allocates its bytes, the caller writes it there, and
 * {@link #itemWritten} accounts for it. It counts as live from the append on, so a death in between cannot free its
 * segment. {@link #itemRemoved} ends an item; its bytes may be overwritten at once, even by another shard.
 *
 * <p>Large items are in no segment. {@link #itemWritten} and {@link #itemRemoved} accept their locations too, and
 * {@code itemRemoved} then releases the run.
 */
public final class Segments {
    /**
     * The class of items without an expiry time; its open segment serves every class that has no open segment of its
     * own.
     */
    public static final int DEFAULT_CLASS = 0;

    /** An open segment without writes for this long is closed, milliseconds. */
    static final long IDLE_MILLIS = 60_000;

    private final SegmentPool pool;
    private final int segmentBytes;
    private final OpenSegments openSegments;
    private final OwnedSegments owned = new OwnedSegments();
    private final SegmentCleaning cleaning;
    private final ReservedSegments reserved;

    private long usedBytes;
    private long liveBytes;
    private long liveItems;
    private long largeBytes;
    private long largeItems;
    private final ClassBytes classBytes = new ClassBytes();
    private long bytesWritten;
    private long freedWhole;
    private long seals;

    /**
     * @param maxOpenSegments how many segments may be open at once, at least 1
     * @param shards the number of shards of the pool
     */
    public Segments(SegmentPool pool, int maxOpenSegments, int shards) {
        this.pool = pool;
        segmentBytes = pool.segmentBytes();
        openSegments = new OpenSegments(maxOpenSegments, segmentBytes, shards);
        cleaning = new SegmentCleaning(this, owned, pool);
        reserved = new ReservedSegments(pool);
    }

    /**
     * The class of an expected lifetime. It is {@link #DEFAULT_CLASS} without a lifetime, and 1 up to 1 s. Each
     * doubling then has two classes (up to 1.5 s, 2 s, 3 s, 4 s, 6 s, 8 s … 32 s, 48 s, 64 s …), so 15, 30, 45 and 60
     * seconds are in different classes.
     *
     * @param ttlMillis time to the expiry, or {@link Item#NEVER}
     */
    public static int lifetimeClass(long ttlMillis) {
        return OpenSegments.classOf(ttlMillis);
    }

    /** The most segments of a shard with a partial extent, because it held little when it opened them. */
    public static int maxParts(int maxOpenSegments, int shards, int segmentBytes) {
        return OpenSegments.maxParts(maxOpenSegments, shards, segmentBytes);
    }

    /**
     * Allocates bytes for an item that a client writes.
     *
     * @param size bytes of the whole item, at most a segment
     * @param lifetimeClass the result of {@link #lifetimeClass}
     * @return its location; the caller writes the item there and calls {@link #itemWritten}, before anything else is
     *     appended
     * @throws CacheFullException if no open segment has space and the pool refuses a segment; nothing has changed then
     */
    public long append(int size, int lifetimeClass, long nowMillis) {
        long location = place(size, lifetimeClass, nowMillis, false);
        bytesWritten += size;
        return location;
    }

    /**
     * As {@link #append}, for an item that a cleaner moves. It does not count as written, and succeeds even if the
     * limit was lowered below the present memory.
     */
    public long appendMoved(int size, int lifetimeClass, long nowMillis) {
        return place(size, lifetimeClass, nowMillis, true);
    }

    /** Segments reserved for items before they are appended. */
    public ReservedSegments reserved() {
        return reserved;
    }

    private long place(int size, int lifetimeClass, long nowMillis, boolean moved) {
        if (size <= 0 || size > segmentBytes) {
            throw new IllegalArgumentException(
                    "An item of " + size + " bytes does not fit a segment of " + segmentBytes + " bytes");
        }
        int servingClass = openSegments.servedBy(lifetimeClass, usedBytes);
        Segment openSegment = openSegments.get(servingClass);
        if (openSegment == null || !openSegment.hasSpace(size)) {
            openSegment = renewOpenSegment(servingClass, size, nowMillis, moved);
        }
        if (openSegment.lifetimeClass() != lifetimeClass) {
            openSegments.countThroughDefault(lifetimeClass, size);
        }
        int offset = openSegment.append(size, nowMillis);
        usedBytes += size;
        liveBytes += size;
        liveItems++;
        return Location.of(openSegment.id(), offset);
    }

    private Segment renewOpenSegment(int servingClass, int size, long nowMillis, boolean moved) {
        int extentBytes = openSegments.extentBytes(size, usedBytes);
        int id = moved ? pool.acquireForCleaning(extentBytes) : pool.acquire(extentBytes);
        if (id == SegmentPool.NONE) {
            id = reserved.take();
        }
        if (id == SegmentPool.NONE) {
            return openSegmentWithSpace(size);
        }
        Segment old = openSegments.get(servingClass);
        if (old != null) {
            endOpenSegment(old);
        }
        Segment openSegment = pool.segment(id);
        openSegment.open(this, owned.count(), servingClass, nowMillis);
        owned.add(openSegment);
        openSegments.open(servingClass, openSegment);
        return openSegment;
    }

    /**
     * Closes an open segment: seals it, or frees it if it has no live items, because no later death would free it. The
     * unused bytes of a partial extent count as a gain if they exceed the usual remainder at an open segment's end.
     */
    private void endOpenSegment(Segment openSegment) {
        if (openSegment.liveItems() == 0) {
            detach(openSegment);
            openSegment.free();
            pool.free(openSegment.id());
        } else {
            int unused = openSegment.extentBytes() - openSegment.usedBytes();
            openSegment.seal(seals++,
                    openSegment.extentBytes() < segmentBytes
                            && unused > openSegment.extentBytes() / OpenSegments.MIN_ITEMS);
        }
    }

    /** Without a fresh segment, any open segment with space serves. */
    private Segment openSegmentWithSpace(int size) {
        Segment openSegment = openSegments.withSpace(size);
        if (openSegment == null) {
            throw CacheFullException.INSTANCE;
        }
        return openSegment;
    }

    /**
     * Accounts for an item that was written: at the location that {@link #append} gave, or as a large one.
     *
     * @param size bytes of the whole item
     * @param expireAtMillis the expiry time, or {@link Item#NEVER}
     * @param writtenMillis the present time; for an item that a cleaner moves, {@link #meanWrittenAtMillis} of its
     *     former segment
     */
    public void itemWritten(long location, int size, long expireAtMillis, long writtenMillis) {
        assert ItemLayout.size(pool.address(location)) == size : size;
        if (Location.isLarge(location)) {
            largeItems++;
            largeBytes += size;
            bytesWritten += size;
        } else {
            ownedSegment(location).addLifetime(expireAtMillis, writtenMillis);
        }
        addToClass(location, ItemLayout.penaltyClass(pool.address(location)), size);
    }

    private void addToClass(long location, int penaltyClass, int more) {
        classBytes.add(penaltyClass, more);
        if (penaltyClass != 0 && !Location.isLarge(location)) {
            ownedSegment(location).addToClass(penaltyClass, more);
        }
    }

    /**
     * Ends an item: marks its header dead and accounts for it. A segment without live items is freed, an open segment
     * is filled again from its start, and a large item's run is released. The header must still hold its expiry time.
     */
    public void itemRemoved(long location) {
        long address = pool.address(location);
        assert !ItemLayout.isDead(address) : "removed twice: " + location;
        int size = ItemLayout.size(address);
        addToClass(location, ItemLayout.penaltyClass(address), -size);
        if (Location.isLarge(location)) {
            largeItems--;
            largeBytes -= size;
            ItemLayout.markDead(address);
            pool.largeItems().release(location);
            return;
        }
        Segment segment = ownedSegment(location);
        segment.removeLifetime(ItemLayout.expireAtMillis(address));
        ItemLayout.markDead(address);
        remove(segment, size, Location.offset(location) + size == segment.usedBytes());
    }

    private void remove(Segment segment, int size, boolean tail) {
        segment.itemRemoved(size);
        liveBytes -= size;
        liveItems--;
        if (segment.state() == SegmentState.OPEN) {
            if (segment.liveItems() == 0) {
                usedBytes -= segment.usedBytes();
                segment.reset();
            } else if (tail) {
                usedBytes -= size;
                segment.dropTail(size);
            }
        } else if (segment.state() == SegmentState.SEALED && segment.liveItems() == 0) {
            freeWhole(segment);
        }
    }

    void freeWhole(Segment segment) {
        freedWhole++;
        detach(segment);
        segment.free();
        pool.free(segment.id());
    }

    void detach(Segment segment) {
        usedBytes -= segment.usedBytes();
        owned.remove(segment);
    }

    /**
     * Grows an item in place, if it is the last of an open segment with space, and that open segment serves items of
     * its new lifetime. An EXPIRE right after a SET thus leaves no dead copy. The header still holds the old size, and
     * the caller writes the new bytes behind the old end.
     *
     * @param lifetimeClass the item's new class, from {@link #lifetimeClass}
     * @return whether it grew; false for a large item. If another open segment serves the class, the caller appends a
     *     copy there; the original is then the last of its open segment, and its bytes are reused
     */
    public boolean extendTail(long location, int newSize, int lifetimeClass) {
        if (Location.isLarge(location)) {
            return false;
        }
        Segment segment = ownedSegment(location);
        if (openSegments.get(openSegments.servedBy(lifetimeClass, usedBytes)) != segment
                || !extendTail(location, newSize)) {
            return false;
        }
        if (segment.lifetimeClass() != lifetimeClass) {
            openSegments.countThroughDefault(lifetimeClass, newSize);
        }
        return true;
    }

    /**
     * As {@link #extendTail(long, int, int)}, whichever open segment the item is in: for the case that a copy in
     * another does not fit.
     */
    public boolean extendTail(long location, int newSize) {
        if (Location.isLarge(location)) {
            return false;
        }
        Segment segment = ownedSegment(location);
        int offset = Location.offset(location);
        int size = ItemLayout.size(pool.address(location));
        if (segment.state() != SegmentState.OPEN || offset + size != segment.usedBytes()
                || newSize > segment.extentBytes() - offset) {
            return false;
        }
        int difference = newSize - size;
        segment.resizeTail(difference);
        usedBytes += difference;
        liveBytes += difference;
        addToClass(location, ItemLayout.penaltyClass(pool.address(location)), difference);
        bytesWritten += Math.max(0, difference);
        return true;
    }

    /** Accounts for a large item that has grown in place. */
    public void extendedLarge(long location, int moreBytes) {
        largeBytes += moreBytes;
        bytesWritten += moreBytes;
        addToClass(location, ItemLayout.penaltyClass(pool.address(location)), moreBytes);
    }

    /**
     * Accounts for an expiry time that was changed in place from {@code oldMillis} to {@code newMillis};
     * {@link Item#NEVER} means none. An item that loses its expiry time gets the mean write time of the others, or the
     * present.
     */
    public void expiryChanged(long location, long oldMillis, long newMillis, long nowMillis) {
        if (oldMillis == newMillis || Location.isLarge(location)) {
            return;
        }
        Segment segment = ownedSegment(location);
        if (oldMillis != Item.NEVER && newMillis != Item.NEVER) {
            segment.expiryMoved(oldMillis, newMillis);
            return;
        }
        segment.removeLifetime(oldMillis);
        segment.addLifetime(newMillis, segment.lastingItems() == 0 ? nowMillis : segment.meanWrittenAtMillis());
    }

    /** Sets the penalty class of a live item. */
    public void penaltyClass(long location, int penaltyClass) {
        long address = pool.address(location);
        int before = ItemLayout.penaltyClass(address);
        if (before != penaltyClass) {
            int size = ItemLayout.size(address);
            addToClass(location, before, -size);
            addToClass(location, penaltyClass, size);
            ItemLayout.penaltyClass(address, penaltyClass);
        }
    }

    /** Bytes of the live items of a penalty class, out of {@link #liveBytes()}. */
    public long classBytes(int penaltyClass) {
        return classBytes.of(penaltyClass, liveBytes());
    }

    /**
     * Accounts for an item without an expiry time that was overwritten in place: it counts as written now.
     *
     * @param overwrites the number of overwrites for which this one stands
     */
    public void overwritten(long location, long nowMillis, int overwrites) {
        if (Location.isLarge(location)) {
            return;
        }
        ownedSegment(location).overwritten(nowMillis, overwrites);
    }

    /** When a large item was created, ms since the epoch. */
    public long adoptedMillis(long location) {
        return pool.largeItems().run(location).adoptedMillis();
    }

    /** The mean write time of a segment's items without an expiry time; 0 if it has none. */
    public long meanWrittenAtMillis(int segmentId) {
        return ownedById(segmentId).meanWrittenAtMillis();
    }

    /**
     * Closes idle open segments: a class's own open segment is sealed (or freed, if empty) after a minute without
     * writes; the default open segment is freed if it is then empty. Called by maintenance.
     *
     * @return the number of closed open segments
     */
    public int closeIdleSegments(long nowMillis) {
        int closed = 0;
        for (int servingClass = 0; servingClass < OpenSegments.CLASSES; servingClass++) {
            Segment openSegment = openSegments.get(servingClass);
            if (openSegment != null && nowMillis - openSegment.lastAppendMillis() >= IDLE_MILLIS
                    && (servingClass != DEFAULT_CLASS || openSegment.liveItems() == 0)) {
                closeOpenSegment(servingClass, openSegment);
                closed++;
            }
        }
        return closed;
    }

    /**
     * Frees open segments without live items, however recently they became empty: for a request to return all free
     * memory.
     */
    public void freeEmptyOpenSegments() {
        for (int servingClass = 0; servingClass < OpenSegments.CLASSES; servingClass++) {
            Segment openSegment = openSegments.get(servingClass);
            if (openSegment != null && openSegment.liveItems() == 0) {
                closeOpenSegment(servingClass, openSegment);
            }
        }
    }

    /**
     * Seals every open segment (frees it, if empty), so that cleaning and eviction can reach its items: for a shard
     * under pressure without sealed segments.
     *
     * @return the number of closed open segments
     */
    public int closeOpenSegments() {
        int closed = 0;
        for (int servingClass = 0; servingClass < OpenSegments.CLASSES; servingClass++) {
            Segment openSegment = openSegments.get(servingClass);
            if (openSegment != null) {
                closeOpenSegment(servingClass, openSegment);
                closed++;
            }
        }
        return closed;
    }

    private void closeOpenSegment(int servingClass, Segment openSegment) {
        openSegments.close(servingClass);
        if (openSegment.liveItems() == 0) {
            detach(openSegment);
            openSegment.free();
            pool.free(openSegment.id());
        } else {
            openSegment.seal(seals++, true);
        }
    }

    /** The cleaner's view of the segments. */
    public SegmentCleaning cleaning() {
        return cleaning;
    }

    /** Segments of this shard, in any state but {@link SegmentState#FREE}. */
    public int segmentCount() {
        return owned.count();
    }

    /**
     * The id of the segment at an index, for a loop over all; the order changes when one is freed.
     *
     * @param place 0 to {@link #segmentCount} - 1
     */
    public int segmentId(int place) {
        return owned.at(place).id();
    }

    public SegmentState state(int segmentId) {
        return pool.segment(segmentId).state();
    }

    /** Bytes of a segment's live items. */
    public int liveBytes(int segmentId) {
        return ownedById(segmentId).liveBytes();
    }

    public int liveItems(int segmentId) {
        return ownedById(segmentId).liveItems();
    }

    /** The gain of cleaning a sealed segment: its dead bytes, and the unused bytes if it was closed early. */
    public int reclaimableBytes(int segmentId) {
        return ownedById(segmentId).reclaimableBytes();
    }

    /** The bytes of a segment that may be filled. */
    public int extentBytes(int segmentId) {
        return ownedById(segmentId).extentBytes();
    }

    /** The utilization u: live bytes divided by the extent. */
    public double utilization(int segmentId) {
        return ownedById(segmentId).utilization();
    }

    /** Bytes of live items, headers and large items included. */
    public long liveBytes() {
        return liveBytes + largeBytes;
    }

    public long liveItems() {
        return liveItems + largeItems;
    }

    /** Bytes appended in segments in use, live and dead, and bytes of large items. */
    public long usedBytes() {
        return usedBytes + largeBytes;
    }

    /** Unreachable bytes in segments in use. */
    public long deadBytes() {
        return usedBytes - liveBytes;
    }

    /** Bytes of large items, headers included. */
    public long largeBytes() {
        return largeBytes;
    }

    public long largeItems() {
        return largeItems;
    }

    /** Item bytes that clients have written. */
    public long bytesWritten() {
        return bytesWritten;
    }

    /** The number of sealed segments that were freed because their last live item died. */
    public long freedWhole() {
        return freedWhole;
    }

    /** Walks every segment item by item and reports contradictions with the accounts. */
    public void checkIntegrity(Consumer<String> report) {
        SegmentsIntegrity.check(this, pool, report);
    }

    long segmentLiveBytes() {
        return liveBytes;
    }

    long segmentLiveItems() {
        return liveItems;
    }

    OpenSegments openSegments() {
        return openSegments;
    }

    OwnedSegments owned() {
        return owned;
    }

    private Segment ownedSegment(long location) {
        return ownedById(Location.segment(location));
    }

    Segment ownedById(int segmentId) {
        Segment segment = pool.segment(segmentId);
        assert segment.owner() == this : "segment " + segmentId + " is not of this shard";
        return segment;
    }
}
