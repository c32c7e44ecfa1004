package io.varve.memory.segment;

import java.util.concurrent.atomic.AtomicInteger;

import io.varve.memory.item.ValueRun;

/**
 * The memory of one large item: room for header and key in front, then the value at an address that never changes. The
 * count of holders is atomic; length and item address are guarded by the lock of the item's shard.
 *
 * <pre>
 *  start                    itemAddress                address
 * +------------------------+--------------------------+---------------------------------+-----+
 * | rest of the head room  | header and key           | value, up to capacity           | pad |
 * +------------------------+--------------------------+---------------------------------+-----+
 *  |&lt;------------------ headRoom ------------------&gt;|
 * </pre>
 *
 * <p>Whoever allocated it is its first holder, so that a bulk can be read from the socket straight into its place before
 * there is a key for it; {@link LargeItems#adopt} hands that hold to the table.
 */
public final class LargeRun implements ValueRun {
    private final LargeItems owner;
    private final long start;
    private final int headRoom;
    private final long regionBytes;
    /** Written under the lock of the item's shard; read by whoever holds the run last. */
    private volatile int capacity;
    private volatile long chargedBytes;
    private final AtomicInteger holders = new AtomicInteger(1);
    private volatile int length;
    private long itemAddress;
    private long adoptedMillis;
    private int shard;
    private int place;

    LargeRun(LargeItems owner, long start, long regionBytes, int headRoom, int capacity, long chargedBytes) {
        this.owner = owner;
        this.start = start;
        this.headRoom = headRoom;
        this.regionBytes = regionBytes;
        this.capacity = capacity;
        this.chargedBytes = chargedBytes;
        this.length = capacity;
    }

    @Override
    public long address() {
        return start + headRoom;
    }

    /** Bytes of the value: at first the whole capacity. */
    @Override
    public int length() {
        return length;
    }

    /**
     * Says how much of the capacity the value uses.
     *
     * @param length bytes, 0 to {@link #capacity}
     */
    public void length(int length) {
        assert length >= 0 && length <= capacity : length + " of " + capacity;
        this.length = length;
    }

    /** Bytes that the value may grow to in place. */
    public int capacity() {
        return capacity;
    }

    /** Gives it more memory behind its value. */
    void extended(int toCapacity, long toChargedBytes) {
        capacity = toCapacity;
        chargedBytes = toChargedBytes;
    }

    @Override
    public int headRoom() {
        return headRoom;
    }

    /** Where the item's header is, once {@link LargeItems#adopt adopted}. */
    long itemAddress() {
        return itemAddress;
    }

    void itemAddress(long itemAddress) {
        this.itemAddress = itemAddress;
    }

    /** When it became an item's, ms since the epoch. */
    long adoptedMillis() {
        return adoptedMillis;
    }

    /** See {@link #adoptedMillis()}. */
    public void adoptedMillis(long wallMillis) {
        adoptedMillis = wallMillis;
    }

    /** Whose item it is, once {@link LargeItems#adopt adopted}. */
    int shard() {
        return shard;
    }

    /** Where it stands among the items of its shard. */
    int place() {
        return place;
    }

    void entered(int ofShard, int atPlace) {
        shard = ofShard;
        place = atPlace;
    }

    /** Bytes of address space, a power of two. */
    long regionBytes() {
        return regionBytes;
    }

    long start() {
        return start;
    }

    /** What was charged to the budget, bytes. */
    public long chargedBytes() {
        return chargedBytes;
    }

    /** Whether someone else than the item holds the run, such as a reply that is being sent. */
    public boolean isShared() {
        return holders.get() > 1;
    }

    @Override
    public void retain() {
        int before = holders.getAndIncrement();
        if (before <= 0) {
            throw new IllegalStateException("A run without a holder cannot be held again");
        }
    }

    @Override
    public void release() {
        int left = holders.decrementAndGet();
        if (left < 0) {
            throw new IllegalStateException("A run was released more often than it was held");
        }
        if (left == 0) {
            owner.giveBack(this);
        }
    }
}
