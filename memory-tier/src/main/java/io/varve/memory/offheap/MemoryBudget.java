package io.varve.memory.offheap;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * How many bytes may be held by everything that grows with data, and how many are. Many writers, many readers: one
 * atomic counter, touched when a segment, a table, a chunk or a run is taken or given back, never per item.
 */
public final class MemoryBudget {
    private final AtomicLong charged = new AtomicLong();
    private volatile long limitBytes;
    private volatile long reserveBytes;
    private final AtomicInteger overdrafts = new AtomicInteger();

    /**
     * @param limitBytes maxmemory, in bytes, at least 1
     */
    public MemoryBudget(long limitBytes) {
        limit(limitBytes);
    }

    /** Charges {@code bytes} if they fit under the limit; false, and nothing charged, if they do not. */
    public boolean tryCharge(long bytes) {
        return tryCharge(bytes, 0);
    }

    /** The same for what can wait: it leaves the reserve to those who cannot. */
    public boolean tryChargeBesideReserve(long bytes) {
        return tryCharge(bytes, reserveBytes);
    }

    private boolean tryCharge(long bytes, long kept) {
        // Not now + bytes: that would wrap for the largest limits.
        for (long now = charged.get(); bytes <= limitBytes - kept - now; now = charged.get()) {
            if (charged.compareAndSet(now, now + bytes)) {
                return true;
            }
        }
        if (kept > 0 || !isOverdrawn()) {
            return false;
        }
        charge(bytes);
        return true;
    }

    /**
     * Lets charges exceed the limit until {@link #endOverdraft}. A command uses it if it has changed something that it
     * cannot undo, and others have used the room that was made for it. As in Redis, the next writes evict for it.
     */
    public void beginOverdraft() {
        overdrafts.incrementAndGet();
    }

    public void endOverdraft() {
        int left = overdrafts.decrementAndGet();
        assert left >= 0 : "an overdraft ended twice";
    }

    /** Whether a command goes beyond the limit at this moment. */
    public boolean isOverdrawn() {
        return overdrafts.get() > 0;
    }

    /** Charges without asking: for structures whose growth cannot be put off, and whose size is bounded elsewhere. */
    public void charge(long bytes) {
        charged.addAndGet(bytes);
    }

    public void release(long bytes) {
        long left = charged.addAndGet(-bytes);
        assert left >= 0 : "released " + bytes + " more than was charged: " + left;
    }

    public long chargedBytes() {
        return charged.get();
    }

    public long limitBytes() {
        return limitBytes;
    }

    /** Bytes left under the limit; negative after the limit was lowered below what is held. */
    public long leftBytes() {
        return limitBytes - charged.get();
    }

    /** What is kept for writes that have begun, in bytes; 0 until it is set. */
    public long reserveBytes() {
        return reserveBytes;
    }

    public void reserve(long bytes) {
        reserveBytes = bytes;
    }

    public void limit(long bytes) {
        if (bytes < 1) {
            throw new IllegalArgumentException("A memory limit is at least 1 byte, not " + bytes);
        }
        limitBytes = bytes;
    }
}
