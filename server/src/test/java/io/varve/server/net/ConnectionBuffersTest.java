package io.varve.server.net;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator;
import io.varve.memory.Cache;
import io.varve.memory.config.CacheConfig;
import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.item.ValueRun;
import io.varve.server.resp.NoBufferException;
import io.varve.server.resp.RequestHeapBudget;
import io.varve.server.resp.ReusedBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests the source of buffers. Confined to the test's thread. */
class ConnectionBuffersTest {
    private static final int MAX_MEMORY_BYTES = 16 << 20;

    private final UnpooledByteBufAllocator pools = new UnpooledByteBufAllocator(true);
    private final RequestHeapBudget heap = new RequestHeapBudget(1 << 20);
    private final Cache cache = Cache
            .open(CacheConfig.defaults(MAX_MEMORY_BYTES).withShards(4).withEvictionPolicy(EvictionPolicy.NOEVICTION));
    private final ConnectionBuffers buffers = new ConnectionBuffers(pools, cache, heap);
    private final List<ByteBuf> held = new ArrayList<>();
    private final List<ValueRun> runs = new ArrayList<>();
    private long chargedAtFirst;

    @BeforeEach
    void chargesNothing() {
        chargedAtFirst = cache.stats().chargedBytes();
    }

    @AfterEach
    void nothingIsLeft() {
        held.forEach(ByteBuf::release);
        runs.forEach(ValueRun::release);
        assertThat(pools.metric().usedDirectMemory()).isZero();
        assertThat(heap.reservedBytes()).isZero();
        assertThat(charged()).isZero();
        cache.close();
    }

    private long charged() {
        return cache.stats().chargedBytes() - chargedAtFirst;
    }

    private ByteBuf hold(ByteBuf buffer) {
        held.add(buffer);
        return buffer;
    }

    private void fillThePools() {
        hold(buffers.directBuffer((int) buffers.pooledBytes()));
        assertThat(charged()).isZero();
    }

    @Test
    void upToTheMarkTheyArePooled() {
        assertThat(hold(buffers.directBuffer(16 << 10)).alloc()).isSameAs(pools);
        assertThat(charged()).isZero();
    }

    @Test
    void beyondTheMarkTheyAreChargedToMaxmemoryUntilReleased() {
        fillThePools();
        ByteBuf buffer = hold(buffers.directBuffer(20_000));
        assertThat(buffer.capacity()).isEqualTo(20_000);
        assertThat(buffer.readableBytes()).isZero();
        assertThat(charged()).isEqualTo(20_480);
        buffer.writeBytes("abc".getBytes(java.nio.charset.StandardCharsets.US_ASCII));
        assertThat(io.varve.memory.offheap.Memory.getByte(buffer.memoryAddress() + 2)).isEqualTo((byte) 'c');
        held.remove(buffer);
        buffer.release();
        assertThat(charged()).isZero();
        assertThat(heap.reservedBytes()).isZero();
    }

    @Test
    void smallOnesStayPooled() {
        fillThePools();
        assertThat(hold(buffers.directBuffer(1000)).alloc()).isSameAs(pools);
    }

    @Test
    void buffersBeyondThePoolsAreCharged() {
        hold(buffers.directBuffer((int) buffers.pooledBytes() - (1 << 20)));
        assertThat(hold(buffers.directBuffer(2 << 20)).capacity()).isEqualTo(2 << 20);
        assertThat(charged()).isEqualTo(2 << 20);
    }

    @Test
    void refusedBuffersComeFromThePoolsUntilTheirLimit() {
        fillThePools();
        while (charged() < MAX_MEMORY_BYTES / 2) {
            hold(buffers.directBuffer(1 << 20));
        }
        assertThatThrownBy(() -> {
            while (true) {
                hold(buffers.directBuffer(1 << 20));
            }
        }).isInstanceOfSatisfying(NoBufferException.class, none -> assertThat(none.isRecoverable()).isTrue());
        long before = pools.metric().usedDirectMemory();
        assertThatThrownBy(() -> {
            while (true) {
                hold(buffers.directBuffer(64 << 10));
            }
        }).isInstanceOf(NoBufferException.class);
        assertThat(pools.metric().usedDirectMemory()).isBetween(before + (8 << 20), before + (12 << 20));
        assertThatThrownBy(() -> buffers.forKeeping(64 << 10)).isInstanceOf(NoBufferException.class);
    }

    @Test
    void retainedBuffersLeaveThePoolsWhenPoolsAreLow() {
        ByteBuf pooled = hold(buffers.directBuffer(64 << 10));
        assertThat(buffers.isToMove(pooled)).isFalse();
        hold(pools.directBuffer((int) buffers.pooledBytes()));
        assertThat(buffers.isToMove(pooled)).isTrue();
        ByteBuf kept = hold(buffers.forKeeping(64 << 10));
        assertThat(charged()).isEqualTo(64 << 10);
        assertThat(buffers.isToMove(kept)).isFalse();
    }

    /** The pools are seldom full to the byte: the next write is charged nevertheless. */
    @Test
    void subscribersMayNotUseAllOfMaxmemory() {
        hold(pools.directBuffer((int) buffers.pooledBytes() - (600 << 10)));
        fillMaxmemory();
        assertThat(mayDeliver(true)).isTrue();
        hold(pools.directBuffer(100 << 10));
        assertThat(mayDeliver(true)).isFalse();
    }

    @Test
    void subscribersThatReadMayUseLess() {
        hold(pools.directBuffer((int) buffers.pooledBytes()));
        while (mayDeliver(true)) {
            hold(buffers.directBuffer(200_000));
        }
        assertThat(cache.hasFreeMemory(4 << 20)).isTrue();
        assertThat(mayDeliver(false)).isTrue();
        fillMaxmemory();
        assertThat(mayDeliver(false)).isTrue();
        hold(pools.directBuffer(7 << 20));
        assertThat(mayDeliver(false)).isFalse();
        assertThat(hold(buffers.directBuffer(64 << 10)).alloc()).isSameAs(pools);
    }

    /** Two event loops that check at the same time see the same free memory: only one of them gets it. */
    @Test
    void deliveriesUnderWayAreTakenFromWhatIsLeft() {
        hold(pools.directBuffer((int) buffers.pooledBytes()));
        while (mayDeliver(true)) {
            hold(buffers.directBuffer(200_000));
        }
        held.removeLast().release();
        assertThat(buffers.beginDelivery(true)).isTrue();
        assertThat(buffers.beginDelivery(true)).isFalse();
        assertThat(buffers.beginDelivery(false)).isTrue();
        buffers.endDelivery();
        buffers.endDelivery();
        assertThat(mayDeliver(true)).isTrue();
    }

    /** A delivery that takes nothing. */
    private boolean mayDeliver(boolean isBehind) {
        boolean may = buffers.beginDelivery(isBehind);
        if (may) {
            buffers.endDelivery();
        }
        return may;
    }

    private void fillMaxmemory() {
        fillWith(50_000);
    }

    /** A connection is not closed for want of a large receive buffer. */
    @Test
    void withoutMemoryReadsAreSmaller() {
        RecvByteBufAllocator large = new FixedRecvByteBufAllocator(64 << 10);
        ReusedBuffer reused = new ReusedBuffer(buffers, 4 << 10);
        hold(pools.directBuffer(60 << 20));
        assertThat(hold(new ReusingReceive(large, reused).newHandle().allocate(buffers)).capacity())
                .isEqualTo(64 << 10);
        fillMaxmemory();
        fillWith(4 << 10);
        assertThatThrownBy(() -> buffers.directBuffer(64 << 10)).isInstanceOf(NoBufferException.class);
        assertThat(hold(new ReusingReceive(large, reused).newHandle().allocate(buffers)).capacity()).isEqualTo(512);
        assertThat(hold(new ReusingReceive(large, null).newHandle().allocate(buffers)).capacity()).isEqualTo(512);
        RecvByteBufAllocator small = new FixedRecvByteBufAllocator(4 << 10);
        assertThat(hold(new ReusingReceive(small, reused).newHandle().allocate(buffers)).capacity()).isEqualTo(512);
        runs.removeFirst().release();
        assertThat(hold(new ReusingReceive(large, null).newHandle().allocate(buffers)).capacity())
                .isEqualTo(16 << 10);
    }

    private void fillWith(int bytes) {
        for (ValueRun run = cache.newBuffer(bytes); run != null; run = cache.newBuffer(bytes)) {
            runs.add(run);
        }
    }

    /** Another thread may take the memory that was freed for a buffer: then more is freed. */
    @Test
    void keptBuffersAreRequestedAgain() {
        hold(pools.directBuffer((int) buffers.pooledBytes()));
        AtomicInteger refused = new AtomicInteger();
        Cache busy = (Cache) Proxy.newProxyInstance(Cache.class.getClassLoader(), new Class<?>[] {Cache.class},
                (_, method, arguments) -> {
                    if (method.getName().equals("newBuffer")) {
                        refused.incrementAndGet();
                        return null;
                    }
                    return method.invoke(cache, arguments);
                });
        assertThat(hold(new ConnectionBuffers(pools, busy, heap).forKeeping(100_000)).capacity()).isEqualTo(100_000);
        assertThat(refused.get()).isPositive();
    }

    @Test
    void thePoolsFollowTheJvmsLimitOfDirectMemory() {
        ConnectionBuffers small = new ConnectionBuffers(pools, cache, heap, 8 << 20);
        assertThat(small.pooledBytes()).isEqualTo(5 << 20);
        assertThat(new ConnectionBuffers(pools, cache, heap, 1L << 40).pooledBytes()).isEqualTo(40 << 20);
        hold(small.directBuffer(5 << 20));
        assertThat(cache.stats().chargedBytes()).isEqualTo(chargedAtFirst);
        hold(small.directBuffer(1 << 20));
        assertThat(cache.stats().chargedBytes()).isGreaterThan(chargedAtFirst);
    }
}
