package io.varve.memory.offheap;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The limit on the memory of everything that grows with data, and the bytes charged to it. Thread-safe: one atomic
 * counter, changed when a segment, a table, a chunk or a run is allocated or freed, never per item.
 */
public final class MemoryBudget {
    private final AtomicLong charged = new AtomicLong();
    private volatile long limitBytes;
    private volatile long reserveBytes;
    private final AtomicInteger overdrafts = new AtomicInteger();

    /** @param limitBytes maxmemory, in bytes, at least 1 */
    public MemoryBudget(long limitBytes) {
        limit(limitBytes);
    }

    /** Charges {@code bytes} if they fit under the limit; false, with nothing charged, if they do not. */
    public boolean tryCharge(long bytes) {
        return tryCharge(bytes, 0);
    }

    /** As {@link #tryCharge(long)}, for allocations that can wait: it leaves the reserve to those that cannot. */
    public boolean tryChargeBesideReserve(long bytes) {
        return tryCharge(bytes, reserveBytes);
    }

    private boolean tryCharge(long bytes, long kept) {
        // Not now + bytes: that would overflow for the largest limits.
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
     * cannot undo, and others have used the memory that was reclaimed for it. As in Redis, the next writes evict for
     * it.
     */
    public void beginOverdraft() {
        overdrafts.incrementAndGet();
    }

    public void endOverdraft() {
        int left = overdrafts.decrementAndGet();
        assert left >= 0 : "an overdraft ended twice";
    }

    /** Whether a command exceeds the limit at this moment. */
    public boolean isOverdrawn() {
        return overdrafts.get() > 0;
    }

    /** Charges unconditionally: for structures whose growth cannot be delayed, and whose size is bounded elsewhere. */
    public void charge(long bytes) {
        charged.addAndGet(bytes);
    }

    public void release(long bytes) {
        long left = charged.addAndGet(-bytes);
        assert left >= 0 : "released " + bytes + " bytes, which is more than charged: " + left;
    }

    public long chargedBytes() {
        return charged.get();
    }

    public long limitBytes() {
        return limitBytes;
    }

    /** Bytes left under the limit; negative after the limit was lowered below the charged bytes. */
    public long availableBytes() {
        return limitBytes - charged.get();
    }

    /** The reserve for writes that have begun, in bytes; 0 until it is set. */
    public long reserveBytes() {
        return reserveBytes;
    }

    public void reserve(long bytes) {
        reserveBytes = bytes;
    }

    public void limit(long bytes) {
        if (bytes < 1) {
            throw new IllegalArgumentException("A memory limit must be at least 1 byte, not " + bytes);
        }
        limitBytes = bytes;
    }
}
