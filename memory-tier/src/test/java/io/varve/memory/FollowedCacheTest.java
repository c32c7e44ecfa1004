package io.varve.memory;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import io.varve.memory.config.CacheConfig;
import io.varve.memory.item.Ticker;
import io.varve.memory.testing.CacheFixture;
import org.junit.jupiter.api.Test;

import static io.varve.memory.testing.CacheFixture.bytes;
import static org.assertj.core.api.Assertions.assertThat;

/** Tests what a replica's cache does with items that have expired: nothing, and only one thread finds them. */
class FollowedCacheTest {
    /** A clock that only the test advances. Thread-safe. */
    private static final class StandingTicker implements Ticker {
        private final AtomicLong millis = new AtomicLong(1_750_000_000_000L);

        @Override
        public long wallMillis() {
            return millis.get();
        }

        @Override
        public long nanoTime() {
            return TimeUnit.MILLISECONDS.toNanos(millis.get());
        }

        void pass(long elapsedMillis) {
            millis.addAndGet(elapsedMillis);
        }
    }

    private final StandingTicker ticker = new StandingTicker();

    private static boolean isFoundByAnother(CacheFixture fixture, String key)
            throws ExecutionException, InterruptedException {
        CompletableFuture<Boolean> found = new CompletableFuture<>();
        Thread.ofPlatform().start(() -> found.complete(fixture.get(0, bytes(key)) != null)).join();
        return found.get();
    }

    @Test
    void expiredItems_stayUntilTheFollowingThreadRemovesThem() throws ExecutionException, InterruptedException {
        try (CacheFixture fixture = new CacheFixture(
                Cache.open(CacheConfig.defaults(8L << 20).withShards(2).withTicker(ticker)))) {
            fixture.cache.follow(Thread.currentThread());
            for (int i = 0; i < 1000; i++) {
                fixture.set(0, bytes("key" + i), new byte[100], ticker.wallMillis() + 10);
            }
            ticker.pass(100_000);
            fixture.session.now(ticker.wallMillis());
            fixture.cache.maintain();
            assertThat(fixture.cache.size(0)).isEqualTo(1000);
            assertThat(fixture.get(0, bytes("key1"))).hasSize(100);
            assertThat(isFoundByAnother(fixture, "key1")).isFalse();
            assertThat(fixture.cache.size(0)).isEqualTo(1000);
            assertThat(fixture.delete(0, bytes("key1"))).isTrue();
            assertThat(fixture.cache.size(0)).isEqualTo(999);
            assertThat(fixture.cache.checkIntegrity()).isEmpty();
            fixture.cache.follow(null);
            assertThat(fixture.get(0, bytes("key2"))).isNull();
            ticker.pass(1000);
            fixture.cache.maintain();
            assertThat(fixture.cache.size(0)).isZero();
        }
    }

    /** The cleaner moves what it would otherwise remove. */
    @Test
    void cleaning_keepsExpiredItems() {
        try (CacheFixture fixture = new CacheFixture(
                Cache.open(CacheConfig.defaults(16L << 20).withShards(1).withTicker(ticker)))) {
            fixture.cache.follow(Thread.currentThread());
            for (int round = 0; round < 20; round++) {
                for (int i = 0; i < 2000; i++) {
                    boolean isRewritten = i % 2 == 0;
                    if (round == 0 || isRewritten) {
                        fixture.set(0, bytes("key" + i), new byte[1000 + round],
                                isRewritten ? -1 : ticker.wallMillis() + 10);
                    }
                }
                ticker.pass(1000);
                fixture.session.now(ticker.wallMillis());
                fixture.cache.maintain();
            }
            assertThat(fixture.cache.stats().segmentsCleaned()).isPositive();
            for (int i = 0; i < 2000; i++) {
                assertThat(fixture.get(0, bytes("key" + i))).as("key%d", i).isNotNull();
            }
            assertThat(fixture.cache.checkIntegrity()).isEmpty();
        }
    }
}
