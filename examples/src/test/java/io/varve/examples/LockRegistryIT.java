package io.varve.examples;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.ConcurrentModificationException;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/**
 * Tests Spring Integration's lock registry, with both of its ways to wait. Confined to the test's thread, except for
 * the threads that a test starts.
 */
@SuppressWarnings("LockNotBeforeTry") // what a test looks at happens while a lock is held
class LockRegistryIT {
    private static final int THREADS = 4;
    private static final int ROUNDS = 25;
    private static final long LEASE_MILLIS = 60_000;
    private static final ExecutorService threads = Executors.newCachedThreadPool();

    private static LibraryServer server;
    private static LettuceConnectionFactory connections;
    private static StringRedisTemplate redis;

    @BeforeAll
    static void start() throws IOException {
        server = LibraryServer.start();
        connections = new LettuceConnectionFactory("127.0.0.1", server.port());
        connections.afterPropertiesSet();
        connections.start();
        redis = new StringRedisTemplate(connections);
    }

    @AfterAll
    static void stop() {
        threads.shutdownNow();
        connections.destroy();
        server.close();
    }

    /** A registry of its own, as another process has. */
    private static RedisLockRegistry registry(RedisLockType type, long leaseMillis) {
        RedisLockRegistry registry = new RedisLockRegistry(connections, "locks-" + type, leaseMillis);
        registry.setRedisLockType(type);
        return registry;
    }

    private static String key(RedisLockType type, String lock) {
        return "locks-" + type + ":" + lock;
    }

    @ParameterizedTest
    @EnumSource(RedisLockType.class)
    void registriesExcludeEachOther(RedisLockType type) throws Exception {
        RedisLockRegistry one = registry(type, LEASE_MILLIS);
        RedisLockRegistry two = registry(type, LEASE_MILLIS);
        int[] counter = new int[1];
        List<Future<?>> running = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            Lock lock = (i % 2 == 0 ? one : two).obtain("counter");
            running.add(threads.submit(() -> {
                for (int round = 0; round < ROUNDS; round++) {
                    lock.lock();
                    try {
                        counter[0]++;
                    } finally {
                        lock.unlock();
                    }
                }
            }));
        }
        for (Future<?> thread : running) {
            thread.get(20, TimeUnit.SECONDS);
        }
        assertThat(counter[0]).isEqualTo(THREADS * ROUNDS);
        assertThat(redis.hasKey(key(type, "counter"))).isFalse();
        one.destroy();
        two.destroy();
    }

    @ParameterizedTest
    @EnumSource(RedisLockType.class)
    void aLockIsRenewedAndReleased(RedisLockType type) throws Exception {
        RedisLockRegistry one = registry(type, LEASE_MILLIS);
        RedisLockRegistry two = registry(type, LEASE_MILLIS);
        Lock lock = one.obtain("renewed");
        lock.lock();
        assertThat(two.obtain("renewed").tryLock()).isFalse();
        assertThat(redis.expire(key(type, "renewed"), Duration.ofSeconds(20))).isTrue();
        one.renewLock("renewed");
        assertThat(redis.getExpire(key(type, "renewed"), TimeUnit.MILLISECONDS)).isGreaterThan(LEASE_MILLIS / 2);
        Future<Boolean> waiter = threads.submit(() -> two.obtain("renewed").tryLock(20, TimeUnit.SECONDS));
        lock.unlock();
        assertThat(waiter.get(20, TimeUnit.SECONDS)).isTrue();
        one.destroy();
        two.destroy();
    }

    @ParameterizedTest
    @EnumSource(RedisLockType.class)
    void aLostLockIsNotReleased(RedisLockType type) throws Exception {
        RedisLockRegistry one = registry(type, 200);
        Lock lock = one.obtain("lost");
        lock.lock();
        Lock others = registry(type, LEASE_MILLIS).obtain("lost");
        // The end of a lock that expires is not published.
        await().pollInSameThread().atMost(Duration.ofSeconds(20)).until(others::tryLock);
        assertThatThrownBy(lock::unlock).isInstanceOf(ConcurrentModificationException.class);
        assertThat(redis.hasKey(key(type, "lost"))).isTrue();
        others.unlock();
        one.destroy();
    }
}
