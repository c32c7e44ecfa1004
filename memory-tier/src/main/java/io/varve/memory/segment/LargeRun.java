package io.varve.memory.segment;

import java.util.concurrent.atomic.AtomicInteger;

import io.varve.memory.item.ValueRun;

/**
 * The memory of one large item: space for header and key, then the value at an address that never changes. The
 * reference count is atomic; the lock of the item's shard guards length and item address.
 *
 * <pre>
 *  start                    itemAddress                address
 * +------------------------+--------------------------+---------------------------------+-----+
 * | rest of the headroom   | header and key           | value, up to capacity           | pad |
 * +------------------------+--------------------------+---------------------------------+-----+
 *  |&lt;------------------ headroom ------------------&gt;|
 * </pre>
 *
 * <p>The allocating caller is the first holder, so a bulk string can be read from the socket directly into its place
 * before it has a key. {@link LargeItems#adopt} transfers that hold to the table.
 */
public final class LargeRun implements ValueRun {
    private final LargeItems owner;
    private final long start;
    private final int headroom;
    private final long regionBytes;
    /** Written under the lock of the item's shard; read by the last holder. */
    private volatile int capacity;
    private volatile long chargedBytes;
    private final AtomicInteger holders = new AtomicInteger(1);
    private volatile int length;
    private long itemAddress;
    private long adoptedMillis;
    private int shard;
    private int place;

    LargeRun(LargeItems owner, long start, long regionBytes, int headroom, int capacity, long chargedBytes) {
        this.owner = owner;
        this.start = start;
        this.headroom = headroom;
        this.regionBytes = regionBytes;
        this.capacity = capacity;
        this.chargedBytes = chargedBytes;
        this.length = capacity;
    }

    @Override
    public long address() {
        return start + headroom;
    }

    /** Bytes of the value: initially the whole capacity. */
    @Override
    public int length() {
        return length;
    }

    /**
     * Sets the length of the value within the capacity.
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

    /** Records additional memory behind the value. */
    void extended(int toCapacity, long toChargedBytes) {
        capacity = toCapacity;
        chargedBytes = toChargedBytes;
    }

    @Override
    public int headroom() {
        return headroom;
    }

    /** The address of the item's header, once {@link LargeItems#adopt adopted}. */
    long itemAddress() {
        return itemAddress;
    }

    void itemAddress(long itemAddress) {
        this.itemAddress = itemAddress;
    }

    /** When it became an item's run, ms since the epoch. */
    long adoptedMillis() {
        return adoptedMillis;
    }

    /** See {@link #adoptedMillis()}. */
    public void adoptedMillis(long wallMillis) {
        adoptedMillis = wallMillis;
    }

    /** The shard of its item, once {@link LargeItems#adopt adopted}. */
    int shard() {
        return shard;
    }

    /** The index in the list of its shard's items. */
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

    /** Bytes charged to the budget. */
    public long chargedBytes() {
        return chargedBytes;
    }

    /** Whether another holder than the item holds the run, such as a reply that is being sent. */
    public boolean isShared() {
        return holders.get() > 1;
    }

    @Override
    public void retain() {
        int before = holders.getAndIncrement();
        if (before <= 0) {
            throw new IllegalStateException("A released run cannot be retained");
        }
    }

    @Override
    public void release() {
        int left = holders.decrementAndGet();
        if (left < 0) {
            throw new IllegalStateException("A run was released more often than it was retained");
        }
        if (left == 0) {
            owner.free(this);
        }
    }
}
