package io.varve.memory;

import io.varve.memory.config.CacheConfig;
import io.varve.memory.config.CurveSettings;
import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.item.Change;
import io.varve.memory.item.ChangeListener;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.memory.shard.context.ShardContext;
import io.varve.memory.testing.CacheFixture;
import io.varve.memory.testing.ManualTicker;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests which items an optimistic read finds, what it counts, and when it leaves a read to the lock. */
final class OptimisticReadTest {
    private static final byte[] NAME = CacheFixture.bytes("name");

    private final ManualTicker ticker = new ManualTicker();
    private Cache cache;
    private CacheFixture fixture;
    private CacheSession session;
    private final Item item = new Item();

    @BeforeEach
    void open() {
        cache = Cache.open(CacheConfig.defaults(32 << 20).withShards(2).withTicker(ticker));
        fixture = new CacheFixture(cache);
        session = fixture.session;
    }

    @AfterEach
    void close() {
        fixture.close();
        cache.close();
    }

    private Key bind() {
        return bind(NAME);
    }

    private Key bind(byte[] name) {
        fixture.now();
        return fixture.bind(0, name);
    }

    /** Whether a read without the lock is possible; it renews the clock. */
    private boolean reads() {
        return reads(NAME);
    }

    private boolean reads(byte[] name) {
        Key key = bind(name);
        if (!session.beginOptimisticRead(key) || !session.confirmOptimisticRead()) {
            return false;
        }
        session.find(key, item);
        session.endOptimisticRead();
        return true;
    }

    private void open(Key key) {
        assertThat(session.beginOptimisticRead(key)).isTrue();
        assertThat(session.confirmOptimisticRead()).isTrue();
    }

    @Test
    void beginOptimisticRead_ofPresentItem_findsCopy() {
        fixture.set(0, NAME, CacheFixture.bytes("value"), Item.NEVER);
        Key key = bind();
        open(key);
        assertThat(session.find(key, item)).isTrue();
        assertThat(item.type()).isEqualTo(ItemType.STRING);
        session.endOptimisticRead();
        byte[] value = new byte[item.valueLength()];
        Memory.copy(item.valueAddress(), value, 0, value.length);
        assertThat(value).isEqualTo(CacheFixture.bytes("value"));
        assertThat(cache.stats().hits()).isOne();
        assertThat(cache.stats().misses()).isZero();
    }

    @Test
    void beginOptimisticRead_ofAbsentItem_findsNone() {
        Key key = bind();
        open(key);
        assertThat(session.peek(key, item)).isFalse();
        assertThat(session.find(key, item)).isFalse();
        session.endOptimisticRead();
        fixture.set(0, CacheFixture.bytes("other"), NAME, Item.NEVER);
        assertThat(reads()).isTrue();
        assertThat(cache.stats().misses()).isEqualTo(2);
    }

    @Test
    void resetStats_countsFromZero() {
        Key key = bind();
        open(key);
        assertThat(session.find(key, item)).isFalse();
        session.endOptimisticRead();
        cache.resetStats();
        assertThat(cache.stats().misses()).isZero();
    }

    @Test
    void beginOptimisticRead_whileAnotherHoldsTheLock_isRefused() throws InterruptedException {
        fixture.set(0, NAME, NAME, Item.NEVER);
        assertThat(reads()).isTrue();
        fixture.whileHeld(bind().shard(), () -> assertThat(reads()).isFalse());
        assertThat(reads()).isTrue();
    }

    @Test
    void beginOptimisticRead_underTheThreadsOwnLock_isRefused() {
        fixture.set(0, NAME, NAME, Item.NEVER);
        session.lock(bind());
        try {
            assertThat(session.beginOptimisticRead(fixture.key)).isFalse();
        } finally {
            session.unlock(fixture.key);
        }
    }

    @Test
    void confirmOptimisticRead_afterAnotherHeldTheLock_isRefused() throws InterruptedException {
        fixture.set(0, NAME, NAME, Item.NEVER);
        assertThat(session.beginOptimisticRead(bind())).isTrue();
        fixture.whileHeld(fixture.key.shard(), () -> {});
        assertThat(session.confirmOptimisticRead()).isFalse();
        assertThat(reads()).isTrue();
    }

    @Test
    void endOptimisticRead_afterAnotherHeldTheLock_keepsTheClock() throws InterruptedException {
        fixture.set(0, NAME, NAME, Item.NEVER);
        ticker.advanceMillis(5000);
        Key key = bind();
        open(key);
        assertThat(session.find(key, item)).isTrue();
        fixture.whileHeld(key.shard(), () -> {});
        session.endOptimisticRead();
        assertThat(idleMillis()).isEqualTo(5000);
        assertThat(reads()).isTrue();
        assertThat(idleMillis()).isZero();
    }

    @Test
    void peek_keepsTheClockAndCountsNothing() {
        fixture.set(0, NAME, NAME, Item.NEVER);
        ticker.advanceMillis(5000);
        Key key = bind();
        open(key);
        assertThat(session.peek(key, item)).isTrue();
        session.endOptimisticRead();
        assertThat(idleMillis()).isEqualTo(5000);
        assertThat(cache.stats().hits()).isZero();
    }

    @Test
    void newSession_withoutOptimisticReads_hasNoCounters() {
        ShardContext context = ((InMemoryCache) cache).context();
        int before = context.lookupCounters();
        cache.newSession();
        assertThat(context.lookupCounters()).isEqualTo(before);
        assertThat(reads()).isTrue();
        assertThat(reads()).isTrue();
        assertThat(context.lookupCounters()).isEqualTo(before + 1);
    }

    @Test
    void beginOptimisticRead_ofLongKey_isRefused() {
        for (int length : new int[] {254, 255, 256}) {
            byte[] name = new byte[length];
            fixture.set(0, name, NAME, Item.NEVER);
            fixture.now();
            boolean opened = session.beginOptimisticRead(fixture.bind(0, name));
            assertThat(opened).as(length + " bytes").isEqualTo(length < 255);
            if (opened) {
                assertThat(session.confirmOptimisticRead()).isTrue();
                session.endOptimisticRead();
            }
        }
    }

    @Test
    void beginOptimisticRead_whileAccessesAreRecorded_isRefused() {
        fixture.set(0, NAME, NAME, Item.NEVER);
        assertThat(reads()).isTrue();
        cache.reconfigure(cache.config().withCurves(new CurveSettings(true, CurveSettings.OFF.windowAccesses())));
        assertThat(reads()).isFalse();
    }

    @Test
    void confirmOptimisticRead_ofMissWithListenerOfMisses_isRefused() {
        ChangeListener ofChanges = (_, _, _, _, _, _) -> {};
        cache.subscribe(ofChanges);
        assertThat(reads()).isTrue();
        ChangeListener ofMisses = new ChangeListener() {
            @Override
            public void changed(Change change, int shard, long sequence, int database, long address, int length) {
                // It wants to hear of misses only.
            }

            @Override
            public boolean hearsMisses() {
                return true;
            }
        };
        cache.subscribe(ofMisses);
        assertThat(reads()).isFalse();
        cache.unsubscribe(ofMisses);
        assertThat(reads()).isTrue();
        cache.subscribe(ofMisses);
        fixture.set(0, NAME, NAME, Item.NEVER);
        assertThat(reads()).isTrue();
    }

    @Test
    void beginOptimisticRead_ofExpiredItem_isRefused() {
        fixture.set(0, NAME, NAME, ticker.wallMillis() + 400);
        assertThat(reads()).isTrue();
        ticker.advanceMillis(401);
        assertThat(reads()).isFalse();
    }

    @Test
    void find_renewsTheClock() {
        fixture.set(0, NAME, NAME, Item.NEVER);
        ticker.advanceMillis(5000);
        session.touching(false);
        assertThat(reads()).isTrue();
        assertThat(idleMillis()).isEqualTo(5000);
        session.touching(true);
        assertThat(reads()).isTrue();
        assertThat(idleMillis()).isZero();
    }

    /** Many reads within a millisecond: two of different items, so that the first of them takes the only lock. */
    @Test
    void find_ofManyItemsInAMillisecond_renewsAClockThatIsFarBehind() {
        byte[] other = CacheFixture.bytes("other");
        fixture.set(0, NAME, NAME, Item.NEVER);
        fixture.set(0, other, other, Item.NEVER);
        ticker.advanceMillis(5000);
        assertThat(reads(other)).isTrue();
        assertThat(reads()).isTrue();
        assertThat(idleMillis()).isEqualTo(5000);
        ticker.advanceMillis(1);
        assertThat(reads()).isTrue();
        assertThat(idleMillis()).isZero();
        ticker.advanceMillis(8000);
        assertThat(reads(other)).isTrue();
        assertThat(reads()).isTrue();
        assertThat(idleMillis()).isZero();
    }

    @Test
    void find_underAPolicyThatEvicts_renewsEveryClock() {
        byte[] other = CacheFixture.bytes("other");
        cache.reconfigure(cache.config().withEvictionPolicy(EvictionPolicy.ALLKEYS_LRU));
        fixture.set(0, NAME, NAME, Item.NEVER);
        fixture.set(0, other, other, Item.NEVER);
        ticker.advanceMillis(2000);
        assertThat(reads(other)).isTrue();
        assertThat(reads()).isTrue();
        assertThat(idleMillis()).isZero();
    }

    private long idleMillis() {
        session.lock(bind());
        try {
            assertThat(session.peek(fixture.key, item)).isTrue();
            return session.idleMillis(item);
        } finally {
            session.unlock(fixture.key);
        }
    }

    @Test
    void beginOptimisticRead_underAPolicyThatCountsAccesses_isRefused() {
        fixture.set(0, NAME, NAME, Item.NEVER);
        cache.reconfigure(cache.config().withEvictionPolicy(EvictionPolicy.ALLKEYS_LFU));
        assertThat(reads()).isFalse();
        cache.reconfigure(cache.config().withEvictionPolicy(EvictionPolicy.ALLKEYS_LRU));
        assertThat(reads()).isTrue();
    }

    @Test
    void beginOptimisticRead_ofLargeValue_isRefused() {
        fixture.set(0, NAME, new byte[2000], Item.NEVER);
        assertThat(reads()).isTrue();
        fixture.set(0, NAME, new byte[2047], Item.NEVER);
        assertThat(reads()).isFalse();
        fixture.set(0, NAME, new byte[200_000], Item.NEVER);
        assertThat(reads()).isFalse();
    }
}
