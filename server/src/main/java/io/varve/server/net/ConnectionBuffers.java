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
import io.varve.server.resp.ArgumentMemory;
import io.varve.server.resp.NoBufferException;
import io.varve.server.resp.RunBuffer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where connections get their buffers: from Netty's pools as long as these are small, and beyond that from memory that is
 * charged to maxmemory. Thread-safe, as the pools, the cache and the counters are.
 *
 * <pre>
 *  0                  5/8                 13/16            -XX:MaxDirectMemorySize (64 MB, less in a small container)
 *  | pools: everything | pools: small buffers, and what    | the pools' last chunks |
 *  |                   | maxmemory refuses and soon ends   |                        |
 *                      | runs of the cache: what is kept, and replies as long as they like  ...
 * </pre>
 *
 * <p>Netty's pools are bounded by the JVM's direct memory, which does not follow maxmemory, and who is refused there loses
 * the connection. So what takes memory for as long as a client likes (an unfinished request, an unread reply) must not
 * end in the pools once they hold five eighths of it.
 */
final class ConnectionBuffers extends AbstractByteBufAllocator {
    /** A larger limit of the JVM's is not used, so that what the process takes beside maxmemory does not follow its heap. */
    private static final long MOST_DIRECT_BYTES = 64L << 20;
    /** Such a buffer is no longer than this. */
    private static final int SHORT_BYTES = 64 << 10;
    /** Shorter ones are always pooled: a run takes a page at least. */
    private static final int SMALL_BYTES = 1024;
    /** What clients that do not read leave of maxmemory; those of which that is not known leave a quarter of it. */
    private static final long LEFT_BYTES = 4 << 20;
    /** What one delivery of messages, which nobody has asked for, may take: what is written at a time, and what moves meanwhile. */
    private static final long DELIVERY_BYTES = 512 << 10;
    private static final int LOG_EVERY_MILLIS = 1000;

    private static final Logger LOG = LoggerFactory.getLogger(ConnectionBuffers.class);

    private final ByteBufAllocator pools;
    private final ByteBufAllocatorMetric pooled;
    private final Cache cache;
    private final ArgumentMemory heap;
    /** Up to so many bytes in the pools, nothing else is asked. */
    private final long pooledBytes;
    /** Who listens and may read takes up to so much of the pools where maxmemory has nothing left: the rest is for replies. */
    private final long pooledWithMessagesBytes;
    /** A buffer that maxmemory refuses may still be pooled up to here: what is read and answered at once lives on it. */
    private final long lastPooledBytes;
    /** Deliveries that were allowed and are not over: what they take is not charged yet. */
    private final AtomicInteger deliveries = new AtomicInteger();
    private final AtomicLong nextLogMillis = new AtomicLong();
    private final AtomicLong unlogged = new AtomicLong();

    /**
     * @param pools a pooling allocator that tells its metrics
     * @param heap  what the objects around buffers outside of the pools are charged to
     */
    ConnectionBuffers(ByteBufAllocator pools, Cache cache, ArgumentMemory heap) {
        this(pools, cache, heap, PlatformDependent.maxDirectMemory());
    }

    /** @param directBytes what the pools may take in all, by the JVM's limit */
    ConnectionBuffers(ByteBufAllocator pools, Cache cache, ArgumentMemory heap, long directBytes) {
        super(true);
        long direct = Math.min(MOST_DIRECT_BYTES, directBytes);
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

    /** Nothing of a connection lies on the heap, which is small: SslHandler asks for it and does not need it. */
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
                // A JVM with a lower limit than the launcher sets; the heap is not touched.
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
        if (run == null) {
            return null;
        }
        return toLeakAwareBuffer(RunBuffer.empty(this, run, bytes, heap));
    }

    /**
     * A buffer for what a connection has to keep until its client sends more. Called without locks: evicts if it has to.
     *
     * @throws NoBufferException if maxmemory has no room for it
     */
    ByteBuf forKeeping(int bytes) {
        if (bytes < SMALL_BYTES || pooled.usedDirectMemory() + bytes <= pooledBytes) {
            return directBuffer(bytes);
        }
        ByteBuf buffer = charged(bytes);
        if (buffer == null && cache.admit(bytes)) {
            buffer = charged(bytes);
        }
        if (buffer == null) {
            throw NoBufferException.of(bytes);
        }
        return buffer;
    }

    /**
     * Whether messages may be written for a client that listens: up to {@link #DELIVERY_BYTES}. Called without locks: evicts if it
     * has to. If so, {@link #endDelivery} is to follow.
     *
     * @param isBehind whether it has not read what was written before
     * @return false if that would take what others, who are not slow, may need
     */
    boolean beginDelivery(boolean isBehind) {
        // Event loops that ask at the same time must not all be told of the same room.
        long taken = deliveries.incrementAndGet() * DELIVERY_BYTES;
        if (mayDeliver(isBehind, taken)) {
            return true;
        }
        endDelivery();
        return false;
    }

    /** @param taken bytes that this delivery and others under way may take */
    private boolean mayDeliver(boolean isBehind, long taken) {
        long used = pooled.usedDirectMemory();
        // What no longer fits in the pools is charged, from the first byte beyond them on.
        if (used + taken <= pooledBytes) {
            return true;
        }
        long left = (isBehind ? LEFT_BYTES : LEFT_BYTES / 4) + taken;
        return cache.hasRoom(left) || cache.admit(left) || !isBehind && used + taken <= pooledWithMessagesBytes;
    }

    /** What was written is charged, or nothing was written after all. */
    void endDelivery() {
        deliveries.decrementAndGet();
    }

    /** Whether a buffer should not stay where it is when its connection has to keep it. */
    boolean isToMove(ByteBuf buffer) {
        return isShort() && buffer.capacity() >= SMALL_BYTES && buffer.alloc() != this;
    }

    long pooledBytes() {
        return pooledBytes;
    }

    private boolean isShort() {
        return pooled.usedDirectMemory() > pooledBytes;
    }

    /** Logs that a connection is closed for want of memory: once a second, however many there are. */
    void logClosed(Object connection, Throwable why, long nowMillis) {
        logClosed(connection, String.valueOf(why.getMessage()), nowMillis);
    }

    void logClosed(Object connection, String why, long nowMillis) {
        long next = nextLogMillis.get();
        if (nowMillis < next || !nextLogMillis.compareAndSet(next, nowMillis + LOG_EVERY_MILLIS)) {
            unlogged.incrementAndGet();
            return;
        }
        LOG.warn("Connection {} is closed: {} (and {} others since this was last said)", connection, why,
                unlogged.getAndSet(0));
    }
}
