package io.varve.memory.segment;

import java.util.function.Consumer;

import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Item;

/**
 * The segments of one shard: its open heads, its sealed segments, and what lives in them. Guarded by the shard's lock.
 *
 * <p>An item comes in three steps: {@link #append} gives it a place, the caller writes it there, {@link #born} accounts
 * for it. From the append on it counts as live, so that whatever dies in between frees nothing under it; one that was not
 * written after all is given up with {@link #abandon}. {@link #died} ends it, and afterwards its bytes may be overwritten
 * at once, by another shard too.
 *
 * <p>Large items are in no segment. {@link #born} and {@link #died} take their locations as well, and {@code died} then
 * releases the run.
 */
public final class Segments {
    /** The class of items without an expiry time, and of the head that serves every class without one of its own. */
    public static final int DEFAULT_CLASS = 0;

    /** A head that got nothing for so long is closed, milliseconds. */
    static final long IDLE_HEAD_MILLIS = 60_000;

    private final SegmentPool pool;
    private final int segmentBytes;
    private final Heads heads;
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
     * @param maxHeads how many segments may be open at once, at least 1
     */
    public Segments(SegmentPool pool, int maxHeads) {
        this.pool = pool;
        segmentBytes = pool.segmentBytes();
        heads = new Heads(maxHeads, segmentBytes);
        cleaning = new SegmentCleaning(this, owned, pool);
        reserved = new ReservedSegments(pool);
    }

    /**
     * The class of an expected lifetime: {@link #DEFAULT_CLASS} without one, 1 up to 1 s, and then two for each doubling
     * (up to 1.5 s, 2 s, 3 s, 4 s, 6 s, 8 s … 32 s, 48 s, 64 s …), so that 15, 30, 45 and 60 seconds fall apart.
     *
     * @param ttlMillis time to the expiry, or {@link Item#NEVER}
     */
    public static int lifetimeClass(long ttlMillis) {
        return Heads.classOf(ttlMillis);
    }

    /** How many segments a shard may have that are filled in part, because it held little when it began them. */
    public static int mostParts(int heads) {
        return Heads.mostParts(heads);
    }

    /**
     * A place for an item that a client writes.
     *
     * @param size          bytes of the whole item, at most a segment
     * @param lifetimeClass of {@link #lifetimeClass}
     * @return its location; the caller writes the item there and calls {@link #born}, before anything else is appended
     * @throws CacheFullException if no head has room and the pool gives no segment; nothing has changed then
     */
    public long append(int size, int lifetimeClass, long nowMillis) {
        long location = place(size, lifetimeClass, nowMillis, false);
        bytesWritten += size;
        return location;
    }

    /**
     * As {@link #append}, for an item that a cleaner moves: it does not count as written, and a limit that was lowered below
     * what is held does not keep it from moving.
     */
    public long appendMoved(int size, int lifetimeClass, long nowMillis) {
        return place(size, lifetimeClass, nowMillis, true);
    }

    /** Segments that are taken for items before these are appended. */
    public ReservedSegments reserved() {
        return reserved;
    }

    private long place(int size, int lifetimeClass, long nowMillis, boolean moved) {
        if (size <= 0 || size > segmentBytes) {
            throw new IllegalArgumentException("An item of " + size + " bytes is in no segment of " + segmentBytes);
        }
        int headClass = heads.servedBy(lifetimeClass, usedBytes);
        Segment head = heads.get(headClass);
        if (head == null || !head.hasRoom(size)) {
            head = renewHead(headClass, size, nowMillis, moved);
        }
        if (head.lifetimeClass() != lifetimeClass) {
            heads.countThroughDefault(lifetimeClass, size);
        }
        int offset = head.append(size, nowMillis);
        usedBytes += size;
        liveBytes += size;
        liveItems++;
        return Location.of(head.id(), offset);
    }

    private Segment renewHead(int headClass, int size, long nowMillis, boolean moved) {
        int extentBytes = heads.extentBytes(size, usedBytes);
        int id = moved ? pool.acquireForCleaning(extentBytes) : pool.acquire(extentBytes);
        if (id == SegmentPool.NONE) {
            id = reserved.take();
        }
        if (id == SegmentPool.NONE) {
            return headWithRoom(size);
        }
        Segment old = heads.get(headClass);
        if (old != null) {
            endHead(old);
        }
        Segment head = pool.segment(id);
        head.open(this, owned.count(), headClass, nowMillis);
        owned.add(head);
        heads.open(headClass, head);
        return head;
    }

    /**
     * Nothing more is appended to a head: it is sealed, or freed if nothing lives in it, because nothing can die there any
     * more. What is unused of an extent counts as a gain if it is more than the items of a head leave by their sizes.
     */
    private void endHead(Segment head) {
        if (head.liveItems() == 0) {
            disown(head);
            head.free();
            pool.free(head.id());
        } else {
            int unused = head.extentBytes() - head.usedBytes();
            head.seal(seals++, head.extentBytes() < segmentBytes && unused > head.extentBytes() / Heads.LEAST_ITEMS);
        }
    }

    /** Without a fresh segment any head will do. */
    private Segment headWithRoom(int size) {
        Segment head = heads.withRoom(size);
        if (head == null) {
            throw CacheFullException.INSTANCE;
        }
        return head;
    }

    /**
     * Gives up a place that {@link #append} gave, when nothing was written there or it is not to be: only before
     * {@link #born} and before the next append.
     */
    public void abandon(long location, int size) {
        Segment segment = ownedSegment(location);
        assert Location.offset(location) + size == segment.usedBytes() : "not the last: " + location;
        bury(segment, size, true);
    }

    /**
     * Accounts for an item that was written: in the place that {@link #append} gave, or as a large one.
     *
     * @param size           bytes of the whole item
     * @param expireAtMillis or {@link Item#NEVER}
     * @param writtenMillis  now; for an item that a cleaner moves, {@link #meanWrittenAtMillis} of where it came from
     */
    public void born(long location, int size, long expireAtMillis, long writtenMillis) {
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
     * Ends an item: marks its header dead and accounts for it; a segment in which nothing lives any more is freed, a head
     * is filled again from its start, a large item's run is released. The header must still say its expiry time.
     */
    public void died(long location) {
        long address = pool.address(location);
        assert !ItemLayout.isDead(address) : "died twice: " + location;
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
        bury(segment, size, Location.offset(location) + size == segment.usedBytes());
    }

    private void bury(Segment segment, int size, boolean tail) {
        segment.died(size);
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
        disown(segment);
        segment.free();
        pool.free(segment.id());
    }

    void disown(Segment segment) {
        usedBytes -= segment.usedBytes();
        owned.remove(segment);
    }

    /**
     * Grows an item in place, if it is the last of an open head with room, and that head serves items of its new
     * lifetime: so that an EXPIRE right after a SET leaves no dead copy. The header still says the old size, and the new
     * bytes behind the old end are the caller's to write.
     *
     * @param lifetimeClass of {@link #lifetimeClass}: what the item belongs to from now on
     * @return whether it did; false for a large item. Where another head serves the class, the caller appends a copy
     *         there: what it leaves is the last of its head, whose bytes are used again
     */
    public boolean extendTail(long location, int newSize, int lifetimeClass) {
        if (Location.isLarge(location)) {
            return false;
        }
        Segment segment = ownedSegment(location);
        if (heads.get(heads.servedBy(lifetimeClass, usedBytes)) != segment || !resizeTail(location, newSize)) {
            return false;
        }
        if (segment.lifetimeClass() != lifetimeClass) {
            heads.countThroughDefault(lifetimeClass, newSize);
        }
        return true;
    }

    /** {@link #extendTail} whatever head the item is in: for when there is no room for a copy in another. */
    public boolean extendTail(long location, int newSize) {
        return resizeTail(location, newSize);
    }

    /** Gives back the end of an item, if it is the last of an open head; the caller then writes the smaller header. */
    public boolean shrinkTail(long location, int newSize) {
        return resizeTail(location, newSize);
    }

    private boolean resizeTail(long location, int newSize) {
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

    /** A large item has so many bytes more, where it lies. */
    public void extendedLarge(long location, int moreBytes) {
        largeBytes += moreBytes;
        bytesWritten += moreBytes;
        addToClass(location, ItemLayout.penaltyClass(pool.address(location)), moreBytes);
    }

    /**
     * An item's expiry time was changed where it lies, from {@code oldMillis} to {@code newMillis}; {@link Item#NEVER} is
     * none. One that loses its expiry time counts as written on the mean of the others, or now.
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

    /** Puts a live item into a penalty class. */
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

    /** Bytes of the live items of a penalty class, of all of {@link #liveBytes()}. */
    public long classBytes(int penaltyClass) {
        return classBytes.of(penaltyClass, liveBytes());
    }

    /** An item without an expiry time was written over in place: it is as stable as one written now. */
    public void overwritten(long location, long nowMillis) {
        if (Location.isLarge(location)) {
            return;
        }
        ownedSegment(location).overwritten(nowMillis);
    }

    /** When a large item was made, ms since the epoch. */
    public long adoptedMillis(long location) {
        return pool.largeItems().run(location).adoptedMillis();
    }

    /** When the items of a segment that have no expiry time were written, on the mean; 0 if it has none such. */
    public long meanWrittenAtMillis(int segmentId) {
        return ownedById(segmentId).meanWrittenAtMillis();
    }

    /**
     * Closes what nobody writes to: a class's own head is sealed (or freed, if empty) when it got nothing for a minute,
     * the default head is freed if it is empty as long. Called by maintenance.
     *
     * @return how many heads were closed
     */
    public int closeIdleHeads(long nowMillis) {
        int closed = 0;
        for (int headClass = 0; headClass < Heads.CLASSES; headClass++) {
            Segment head = heads.get(headClass);
            if (head != null && nowMillis - head.lastAppendMillis() >= IDLE_HEAD_MILLIS
                    && (headClass != DEFAULT_CLASS || head.liveItems() == 0)) {
                closeHead(headClass, head);
                closed++;
            }
        }
        return closed;
    }

    /** Frees heads in which nothing lives, however short they have been so: for who is asked for all the memory that can be given back. */
    public void freeEmptyHeads() {
        for (int headClass = 0; headClass < Heads.CLASSES; headClass++) {
            Segment head = heads.get(headClass);
            if (head != null && head.liveItems() == 0) {
                closeHead(headClass, head);
            }
        }
    }

    /**
     * Seals every head (frees it, if empty), so that cleaning and eviction can reach its items: for a shard under
     * pressure that has nothing sealed.
     *
     * @return how many heads were closed
     */
    public int closeHeads() {
        int closed = 0;
        for (int headClass = 0; headClass < Heads.CLASSES; headClass++) {
            Segment head = heads.get(headClass);
            if (head != null) {
                closeHead(headClass, head);
                closed++;
            }
        }
        return closed;
    }

    private void closeHead(int headClass, Segment head) {
        heads.close(headClass);
        if (head.liveItems() == 0) {
            disown(head);
            head.free();
            pool.free(head.id());
        } else {
            head.seal(seals++, true);
        }
    }

    /** Its segments as the cleaner sees them. */
    public SegmentCleaning cleaning() {
        return cleaning;
    }

    /** Segments of this shard, in any state but {@link SegmentState#FREE}. */
    public int segmentCount() {
        return owned.count();
    }

    /**
     * The id of one of the segments, for a loop over all; the order changes whenever one is freed.
     *
     * @param place 0 to {@link #segmentCount} - 1
     */
    public int segmentId(int place) {
        return owned.at(place).id();
    }

    public SegmentState state(int segmentId) {
        return pool.segment(segmentId).state();
    }

    /** Bytes appended to a segment. */
    public int usedBytes(int segmentId) {
        return ownedById(segmentId).usedBytes();
    }

    /** Bytes of a segment's live items. */
    public int liveBytes(int segmentId) {
        return ownedById(segmentId).liveBytes();
    }

    public int liveItems(int segmentId) {
        return ownedById(segmentId).liveItems();
    }

    /** What cleaning a sealed segment gains: its dead bytes, and what is unused of one that was closed before its time. */
    public int reclaimableBytes(int segmentId) {
        return ownedById(segmentId).reclaimableBytes();
    }

    /** How much of a segment may be filled, bytes. */
    public int extentBytes(int segmentId) {
        return ownedById(segmentId).extentBytes();
    }

    /** u: live bytes over what may be filled. */
    public double utilization(int segmentId) {
        return ownedById(segmentId).utilization();
    }

    /** Bytes of live items, headers included, large ones too. */
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

    /** Bytes in segments in use that nobody can reach. */
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

    /** Item bytes that clients wrote since the start. */
    public long bytesWritten() {
        return bytesWritten;
    }

    /** How many sealed segments were freed since the start because the last item in them died. */
    public long freedWhole() {
        return freedWhole;
    }

    /** Walks every segment item by item and reports each place where it is not as the accounts say. */
    public void checkIntegrity(Consumer<String> report) {
        SegmentsIntegrity.check(this, pool, report);
    }

    long segmentLiveBytes() {
        return liveBytes;
    }

    long segmentLiveItems() {
        return liveItems;
    }

    Heads heads() {
        return heads;
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
