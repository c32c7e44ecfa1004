package io.varve.server.net;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufAllocatorMetric;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import io.netty.util.internal.PlatformDependent;
import io.varve.memory.Cache;
import io.varve.memory.item.ValueRun;
import io.varve.server.resp.NoBufferException;
import io.varve.server.resp.RequestHeapBudget;
import io.varve.server.resp.RunBuffer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Allocates connection buffers: from Netty's pools while these are small, and beyond that from memory that is charged
 * to maxmemory. Thread-safe, as the pools, the cache and the counters are.
 *
 * <pre>
 *  0                  5/8                 13/16            -XX:MaxDirectMemorySize (64 MB, less in a small container)
 *  | pools: everything | pools: small buffers, and what    | the pools' last chunks |
 *  |                   | maxmemory refuses and soon ends   |                        |
 *                      | runs of the cache: what is kept, and replies as long as they like  ...
 * </pre>
 *
 * <p>The JVM's direct memory bounds Netty's pools. It does not follow maxmemory, and a connection that is refused there
 * is lost. A client may hold an unfinished request or an unread reply for as long as it likes. Such memory must not
 * come from the pools once they hold five eighths of the limit.
 */
final class ConnectionBuffers extends AbstractByteBufAllocator {
    /**
     * A larger limit of the JVM is not used, so that the process's memory beside maxmemory does not follow its heap.
     */
    private static final long MAX_DIRECT_BYTES = 64L << 20;
    /** Maximum size of a short-lived buffer. */
    private static final int SHORT_BYTES = 64 << 10;
    /** Smaller buffers are always pooled, since a run takes at least one page. */
    private static final int SMALL_BYTES = 1024;
    /**
     * The part of maxmemory that must remain free for a delivery to a client that does not read; a quarter of it for
     * other clients.
     */
    private static final long LEFT_BYTES = 4 << 20;
    /**
     * Maximum memory of one delivery of unrequested messages: the bytes written at a time, and those that move
     * meanwhile.
     */
    private static final long DELIVERY_BYTES = 512 << 10;
    private static final int LOG_EVERY_MILLIS = 1000;

    private static final Logger LOG = LoggerFactory.getLogger(ConnectionBuffers.class);

    private final ByteBufAllocator pools;
    private final ByteBufAllocatorMetric pooled;
    private final Cache cache;
    private final RequestHeapBudget heap;
    /** While the pools hold at most this many bytes, no other limit is checked. */
    private final long pooledBytes;
    /**
     * Limit of the pools for a subscriber that may be reading, if maxmemory has no free memory: the rest is for
     * replies.
     */
    private final long pooledWithMessagesBytes;
    /** Limit of the pools for a buffer that maxmemory refuses: a command that is read and answered at once uses it. */
    private final long lastPooledBytes;
    /** Deliveries that have begun and not ended: their memory is not charged yet. */
    private final AtomicInteger deliveries = new AtomicInteger();
    private final AtomicLong nextLogMillis = new AtomicLong();
    private final AtomicLong unlogged = new AtomicLong();

    /**
     * @param pools a pooling allocator with metrics
     * @param heap budget of the objects around buffers outside the pools
     */
    ConnectionBuffers(ByteBufAllocator pools, Cache cache, RequestHeapBudget heap) {
        this(pools, cache, heap, PlatformDependent.maxDirectMemory());
    }

    /** @param directBytes maximum memory of the pools, by the JVM's limit */
    ConnectionBuffers(ByteBufAllocator pools, Cache cache, RequestHeapBudget heap, long directBytes) {
        super(true);
        long direct = Math.min(MAX_DIRECT_BYTES, directBytes);
        pooledBytes = direct / 8 * 5;
        pooledWithMessagesBytes = direct / 32 * 23;
        lastPooledBytes = direct / 16 * 13;
        this.pools = pools;
        pooled = ((ByteBufAllocatorMetricProvider) pools).metric();
        this.cache = cache;
        this.heap = heap;
    }

    @Override
    public boolean isDirectBufferPooled() {
        return true;
    }

    /** Never allocates on the small heap: SslHandler requests heap buffers but does not need them. */
    @Override
    protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
        return newDirectBuffer(initialCapacity, maxCapacity);
    }

    /** Evicts nothing: may be called under a shard's lock. */
    @Override
    protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
        if (initialCapacity < SMALL_BYTES || pooled.usedDirectMemory() + initialCapacity <= pooledBytes) {
            try {
                return pools.directBuffer(initialCapacity, maxCapacity);
            } catch (OutOfMemoryError directMemory) {
                // A JVM with a lower limit than the launcher's; this does not affect the heap.
                return outsideOfThePools(initialCapacity, maxCapacity);
            }
        }
        return outsideOfThePools(initialCapacity, maxCapacity);
    }

    private ByteBuf outsideOfThePools(int bytes, int maxCapacity) {
        ByteBuf charged = charged(bytes);
        if (charged != null) {
            return charged;
        }
        if (bytes <= SHORT_BYTES && pooled.usedDirectMemory() + bytes <= lastPooledBytes) {
            try {
                return pools.directBuffer(bytes, maxCapacity);
            } catch (OutOfMemoryError directMemory) {
                throw NoBufferException.of(bytes);
            }
        }
        throw NoBufferException.of(bytes);
    }

    private @Nullable ByteBuf charged(int bytes) {
        ValueRun run = cache.newBuffer(Math.max(bytes, 1));
        return run == null ? null : of(run, bytes);
    }

    private ByteBuf of(ValueRun run, int bytes) {
        return toLeakAwareBuffer(RunBuffer.empty(this, run, bytes, heap));
    }

    /**
     * Allocates a buffer for bytes that a connection keeps until its client sends more. Called without locks: evicts if
     * necessary.
     *
     * @throws NoBufferException if maxmemory has no free memory for it
     */
    ByteBuf forKeeping(int bytes) {
        if (bytes < SMALL_BYTES || pooled.usedDirectMemory() + bytes <= pooledBytes) {
            return directBuffer(bytes);
        }
        ByteBuf buffer = charged(bytes);
        if (buffer != null) {
            return buffer;
        }
        ValueRun run = cache.newRun(0, Math.max(bytes, 1));
        if (run == null) {
            throw NoBufferException.of(bytes);
        }
        return of(run, bytes);
    }

    /**
     * Reserves memory to write messages for a subscriber, up to {@link #DELIVERY_BYTES}. Called without locks: evicts
     * if necessary. On success the caller must call {@link #endDelivery}.
     *
     * @param isBehind whether the client has not read earlier output
     * @return false if that would take memory that other clients may need
     */
    boolean beginDelivery(boolean isBehind) {
        // Event loops that ask concurrently must not all be granted one piece of free memory.
        long taken = deliveries.incrementAndGet() * DELIVERY_BYTES;
        if (mayDeliver(isBehind, taken)) {
            return true;
        }
        endDelivery();
        return false;
    }

    /** @param taken bytes that this delivery and concurrent ones may take */
    private boolean mayDeliver(boolean isBehind, long taken) {
        long used = pooled.usedDirectMemory();
        // Output that does not fit in the pools is charged, from its first byte outside them.
        if (used + taken <= pooledBytes) {
            return true;
        }
        long left = (isBehind ? LEFT_BYTES : LEFT_BYTES / 4) + taken;
        return cache.hasFreeMemory(left) || cache.admit(left) || !isBehind && used + taken <= pooledWithMessagesBytes;
    }

    /** Ends a delivery: its output is charged, or nothing was written. */
    void endDelivery() {
        deliveries.decrementAndGet();
    }

    /** Whether a buffer should move elsewhere before its connection keeps it. */
    boolean isToMove(ByteBuf buffer) {
        return isShort() && buffer.capacity() >= SMALL_BYTES && buffer.alloc() != this;
    }

    /** The limit up to which no other than the pools' is checked. */
    long pooledBytes() {
        return pooledBytes;
    }

    /** Bytes that the pools hold, used or not. Called by any thread. */
    long bytesInPools() {
        return pooled.usedDirectMemory();
    }

    private boolean isShort() {
        return pooled.usedDirectMemory() > pooledBytes;
    }

    /** Logs that a connection is closed for lack of memory: at most once a second. */
    void logClosed(Object connection, Throwable why, long nowMillis) {
        logClosed(connection, String.valueOf(why.getMessage()), nowMillis);
    }

    void logClosed(Object connection, String why, long nowMillis) {
        long next = nextLogMillis.get();
        if (nowMillis < next || !nextLogMillis.compareAndSet(next, nowMillis + LOG_EVERY_MILLIS)) {
            unlogged.incrementAndGet();
            return;
        }
        LOG.warn("Connection {} is closed: {} (and {} others since the last such message)", connection, why,
                unlogged.getAndSet(0));
    }
}
