package io.varve.examples;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RBlockingQueue;
import org.redisson.api.RBoundedBlockingQueue;
import org.redisson.api.RBucket;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RDelayedQueue;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RMap;
import org.redisson.api.RMapCache;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RPriorityQueue;
import org.redisson.api.RRateLimiter;
import org.redisson.api.RReadWriteLock;
import org.redisson.api.RScript;
import org.redisson.api.RSemaphore;
import org.redisson.api.RSetCache;
import org.redisson.api.RStream;
import org.redisson.api.RTransaction;
import org.redisson.api.RateType;
import org.redisson.api.RedissonClient;
import org.redisson.api.TransactionOptions;
import org.redisson.api.map.event.EntryExpiredListener;
import org.redisson.api.stream.StreamAddArgs;
import org.redisson.api.stream.StreamCreateGroupArgs;
import org.redisson.api.stream.StreamMessageId;
import org.redisson.api.stream.StreamReadGroupArgs;
import org.redisson.client.codec.LongCodec;
import org.redisson.client.codec.StringCodec;
import org.redisson.codec.CompositeCodec;
import org.redisson.config.Config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/**
 * Tests Redisson, whose objects are scripts: locks, semaphores, caches, queues, rate limiters. Confined to the test's
 * thread, except for the threads that a test starts.
 */
@SuppressWarnings("LockNotBeforeTry") // what a test looks at happens while a lock is held
class RedissonIT {
    private static final int THREADS = 4;
    private static final int ROUNDS = 25;
    private static final int MERGES = 10;
    /** A lock is renewed three times as often as it would expire. */
    private static final long WATCHDOG_MILLIS = 6_000;
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final ExecutorService threads = Executors.newCachedThreadPool();

    private static LibraryServer server;
    private static RedissonClient redisson;
    private static RedissonClient other;

    @BeforeAll
    static void start() throws IOException {
        server = LibraryServer.start();
        redisson = connect();
        other = connect();
        redisson.getKeys().flushdb();
    }

    @AfterAll
    static void stop() {
        threads.shutdownNow();
        other.shutdown();
        redisson.shutdown();
        server.close();
    }

    /** A client of its own, as another process has. */
    private static RedissonClient connect() {
        Config config = new Config().setThreads(4).setNettyThreads(2).setLockWatchdogTimeout(WATCHDOG_MILLIS)
                .setMinCleanUpDelay(1).setMaxCleanUpDelay(1);
        config.useSingleServer().setAddress("redis://127.0.0.1:" + server.port()).setConnectionMinimumIdleSize(2)
                .setConnectionPoolSize(16).setSubscriptionConnectionMinimumIdleSize(1);
        return Redisson.create(config);
    }

    private static <T> T of(Future<T> future) throws Exception {
        return future.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    /** Increments a plain counter under locks of both clients, from several threads. */
    private static void assertExcludes(RLock... locks) throws Exception {
        int[] counter = new int[1];
        List<Future<?>> running = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            RLock lock = locks[i % locks.length];
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
            of(thread);
        }
        assertThat(counter[0]).isEqualTo(THREADS * ROUNDS);
    }

    // --- locks

    @Test
    void lock_excludesThreadsOfBothClients_andIsReentrant() throws Exception {
        assertExcludes(redisson.getLock("lock"), other.getLock("lock"));
        RLock lock = redisson.getLock("lock");
        lock.lock();
        lock.lock();
        assertThat(lock.getHoldCount()).isEqualTo(2);
        assertThat(other.getLock("lock").tryLock()).isFalse();
        lock.unlock();
        lock.unlock();
        assertThat(lock.isLocked()).isFalse();
        assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
        assertThat(redisson.getKeys().countExists("lock")).isZero();
    }

    @Test
    void lock_isRenewedWhileItsOwnerLives() throws Exception {
        RLock lock = redisson.getLock("renewed");
        lock.lock();
        AtomicLong left = new AtomicLong(lock.remainTimeToLive());
        await().atMost(PATIENCE).until(() -> {
            long now = lock.remainTimeToLive();
            return now > left.getAndSet(now);
        });
        assertThat(lock.isHeldByCurrentThread()).isTrue();
        Future<Boolean> waiter = threads.submit(() -> other.getLock("renewed").tryLock(20, TimeUnit.SECONDS));
        lock.unlock();
        assertThat(of(waiter)).isTrue();
    }

    @Test
    void lock_expiresWithItsLease() throws Exception {
        redisson.getLock("leased").lock(200, TimeUnit.MILLISECONDS);
        assertThat(of(threads.submit(() -> other.getLock("leased").tryLock(20, 5, TimeUnit.SECONDS)))).isTrue();
        assertThat(redisson.getLock("leased").forceUnlock()).isTrue();
    }

    @Test
    void fairLock_isGrantedInTheOrderOfRequests() throws Exception {
        RLock lock = redisson.getFairLock("fair");
        lock.lock();
        List<Integer> order = Collections.synchronizedList(new ArrayList<>());
        List<Future<?>> waiting = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            int number = i;
            waiting.add(threads.submit(() -> {
                RLock mine = (number % 2 == 0 ? redisson : other).getFairLock("fair");
                mine.lock();
                order.add(number);
                mine.unlock();
            }));
            await().atMost(PATIENCE).until(() -> redisson.getDeque("redisson_lock_queue:{fair}").size() == number + 1);
        }
        lock.unlock();
        for (Future<?> thread : waiting) {
            of(thread);
        }
        assertThat(order).containsExactly(0, 1, 2, 3, 4);
        assertExcludes(redisson.getFairLock("fair"), other.getFairLock("fair"));
    }

    @Test
    void readWriteLock_sharesReadsAndExcludesWrites() throws Exception {
        RReadWriteLock lock = redisson.getReadWriteLock("rw");
        lock.readLock().lock();
        RReadWriteLock another = other.getReadWriteLock("rw");
        assertThat(of(threads.submit(() -> another.readLock().tryLock(0, 10, TimeUnit.SECONDS)))).isTrue();
        assertThat(of(threads.submit(() -> another.writeLock().tryLock()))).isFalse();
        another.readLock().forceUnlock();
        assertThat(of(threads.submit(() -> another.writeLock().tryLock(0, 10, TimeUnit.SECONDS)))).isTrue();
        assertThat(lock.readLock().tryLock()).isFalse();
        another.writeLock().forceUnlock();
        assertExcludes(lock.writeLock(), another.writeLock());
    }

    @Test
    void multiLockFencedLockAndSpinLock() throws Exception {
        assertExcludes(redisson.getMultiLock(redisson.getLock("m1"), redisson.getLock("m2")),
                other.getMultiLock(other.getLock("m1"), other.getLock("m2")));
        assertExcludes(redisson.getSpinLock("spin"), other.getSpinLock("spin"));
        RFencedLock fenced = redisson.getFencedLock("fenced");
        long first = fenced.lockAndGetToken();
        fenced.unlock();
        assertThat(fenced.lockAndGetToken()).isEqualTo(first + 1);
        fenced.unlock();
    }

    @Test
    void semaphores() throws Exception {
        RSemaphore semaphore = redisson.getSemaphore("semaphore");
        assertThat(semaphore.trySetPermits(3)).isTrue();
        semaphore.acquire(2);
        assertThat(semaphore.tryAcquire(2)).isFalse();
        Future<Boolean> waiter = threads.submit(() -> other.getSemaphore("semaphore").tryAcquire(2, PATIENCE));
        semaphore.release();
        assertThat(of(waiter)).isTrue();
        assertThat(semaphore.availablePermits()).isZero();

        RPermitExpirableSemaphore expirable = redisson.getPermitExpirableSemaphore("expirable");
        expirable.trySetPermits(1);
        String permit = expirable.acquire();
        assertThat(expirable.tryAcquire()).isNull();
        expirable.release(permit);
        expirable.acquire(100, TimeUnit.MILLISECONDS);
        assertThat(expirable.tryAcquire(PATIENCE.toSeconds(), 10, TimeUnit.SECONDS)).isNotNull();
    }

    @Test
    void countDownLatch() throws Exception {
        RCountDownLatch latch = redisson.getCountDownLatch("latch");
        latch.trySetCount(2);
        Future<Boolean> waiter = threads.submit(() -> other.getCountDownLatch("latch").await(20, TimeUnit.SECONDS));
        latch.countDown();
        latch.countDown();
        assertThat(of(waiter)).isTrue();
        assertThat(latch.getCount()).isZero();
    }

    // --- maps

    @Test
    void map_replacesAndComputesAtomically() throws Exception {
        RMap<String, Integer> map = redisson.getMap("map");
        assertThat(map.put("a", 1)).isNull();
        assertThat(map.putIfAbsent("a", 2)).isEqualTo(1);
        assertThat(map.replace("a", 1, 3)).isTrue();
        assertThat(map.remove("a", 1)).isFalse();
        RMap<String, Long> numbers = redisson.getMap("numbers", new CompositeCodec(StringCodec.INSTANCE,
                LongCodec.INSTANCE));
        assertThat(numbers.addAndGet("n", 4L) + numbers.addAndGet("n", 5L)).isEqualTo(13L);
        List<Future<?>> running = new ArrayList<>();
        for (RedissonClient client : List.of(redisson, other)) {
            running.add(threads.submit(() -> IntStream.range(0, MERGES).forEach(_ -> client
                    .<String, Integer>getMap("map").merge("sum", 1, Integer::sum))));
        }
        for (Future<?> thread : running) {
            of(thread);
        }
        assertThat(map).containsEntry("sum", 2 * MERGES);
    }

    @Test
    void mapCache_expiresEntries_andTellsListeners() throws Exception {
        RMapCache<String, String> cache = redisson.getMapCache("cache");
        CompletableFuture<String> expired = new CompletableFuture<>();
        cache.addListener((EntryExpiredListener<String, String>) event -> expired.complete(event.getKey()));
        cache.put("long", "2", 1, TimeUnit.HOURS, 1, TimeUnit.HOURS);
        cache.fastPut("idle", "3", 0, TimeUnit.SECONDS, 10, TimeUnit.MINUTES);
        assertThat(cache.putIfAbsent("long", "4", 1, TimeUnit.HOURS)).isEqualTo("2");
        assertThat(cache.getAll(Set.of("long", "idle", "none"))).isEqualTo(Map.of("long", "2", "idle", "3"));
        cache.put("short", "1", 300, TimeUnit.MILLISECONDS);
        await().atMost(PATIENCE).until(() -> cache.get("short") == null);
        assertThat(cache.readAllKeySet()).containsExactlyInAnyOrder("long", "idle");
        assertThat(cache.remainTimeToLive("long")).isBetween(3_000_000L, 3_600_000L);
        assertThat(of(expired)).isEqualTo("short");
    }

    @Test
    void mapCache_evictsTheLeastRecentlyUsed() {
        RMapCache<Integer, String> cache = redisson.getMapCache("bounded");
        assertThat(cache.trySetMaxSize(10)).isTrue();
        for (int i = 0; i < 10; i++) {
            cache.put(i, "value");
        }
        assertThat(cache.get(0)).isEqualTo("value");
        for (int i = 10; i < 15; i++) {
            cache.fastPut(i, "value");
        }
        assertThat(cache.readAllKeySet()).hasSize(10).contains(0, 14).doesNotContain(1, 2);
    }

    @Test
    void setCache_expiresElements() {
        RSetCache<String> set = redisson.getSetCache("set");
        assertThat(set.add("short", 200, TimeUnit.MILLISECONDS)).isTrue();
        assertThat(set.add("long", 1, TimeUnit.HOURS)).isTrue();
        await().atMost(PATIENCE).until(() -> !set.contains("short"));
        assertThat(set.readAll()).containsExactly("long");
    }

    // --- queues

    @Test
    void blockingQueues() throws Exception {
        RBlockingQueue<String> queue = redisson.getBlockingQueue("queue");
        Future<String> taker = threads.submit(() -> other.<String>getBlockingQueue("queue").take());
        queue.put("a");
        assertThat(of(taker)).isEqualTo("a");
        queue.addAll(List.of("b", "c", "d"));
        List<String> drained = new ArrayList<>();
        assertThat(queue.drainTo(drained, 2)).isEqualTo(2);
        assertThat(drained).containsExactly("b", "c");
        assertThat(queue.pollLastAndOfferFirstTo("target", 5, TimeUnit.SECONDS)).isEqualTo("d");
    }

    @Test
    @SuppressWarnings("deprecation") // its successor is not in the free edition
    void boundedQueue_waitsForRoom() throws Exception {
        RBoundedBlockingQueue<Integer> bounded = redisson.getBoundedBlockingQueue("full");
        bounded.trySetCapacity(2);
        bounded.put(1);
        bounded.put(2);
        assertThat(bounded.offer(3)).isFalse();
        Future<Boolean> offerer = threads.submit(
                () -> other.<Integer>getBoundedBlockingQueue("full").offer(3, 20, TimeUnit.SECONDS));
        assertThat(bounded.take()).isEqualTo(1);
        assertThat(of(offerer)).isTrue();
    }

    @Test
    void priorityQueue() {
        RPriorityQueue<Integer> queue = redisson.getPriorityQueue("priority");
        queue.trySetComparator(Collections.reverseOrder());
        queue.addAll(List.of(3, 9, 1, 7));
        assertThat(List.of(queue.poll(), queue.poll(), queue.poll(), queue.poll())).containsExactly(9, 7, 3, 1);
    }

    @Test
    @SuppressWarnings("deprecation") // its successor is not in the free edition
    void delayedQueue_deliversInTheOrderOfDeadlines() throws Exception {
        RBlockingQueue<String> target = redisson.getBlockingQueue("delayed");
        RDelayedQueue<String> delayed = redisson.getDelayedQueue(target);
        delayed.offer("second", 2_000, TimeUnit.MILLISECONDS);
        delayed.offer("first", 100, TimeUnit.MILLISECONDS);
        delayed.offer("never", 1, TimeUnit.HOURS);
        assertThat(delayed.readAll()).contains("never");
        assertThat(target.poll(20, TimeUnit.SECONDS)).isEqualTo("first");
        assertThat(target.poll(20, TimeUnit.SECONDS)).isEqualTo("second");
        assertThat(delayed.remove("never")).isTrue();
        delayed.destroy();
    }

    // --- the rest

    @Test
    void rateLimiter() throws Exception {
        RRateLimiter limiter = redisson.getRateLimiter("limiter");
        assertThat(limiter.trySetRate(RateType.OVERALL, 5, Duration.ofMinutes(1))).isTrue();
        AtomicInteger passed = new AtomicInteger();
        CountDownLatch begin = new CountDownLatch(1);
        List<Future<?>> running = new ArrayList<>();
        for (RedissonClient client : List.of(redisson, other, redisson, other)) {
            running.add(threads.submit(() -> {
                begin.await();
                for (int i = 0; i < 5; i++) {
                    passed.addAndGet(client.getRateLimiter("limiter").tryAcquire() ? 1 : 0);
                }
                return passed;
            }));
        }
        begin.countDown();
        for (Future<?> thread : running) {
            of(thread);
        }
        assertThat(passed).hasValue(5);
        assertThat(limiter.availablePermits()).isZero();
        RRateLimiter quick = redisson.getRateLimiter("quick");
        quick.trySetRate(RateType.OVERALL, 1, Duration.ofMillis(200));
        assertThat(quick.tryAcquire(1, PATIENCE)).isTrue();
        assertThat(quick.tryAcquire(1, PATIENCE)).isTrue();
    }

    @Test
    void idsAndBucketsAndTransactions() {
        assertThat(redisson.getIdGenerator("ids").tryInit(10, 5)).isTrue();
        Set<Long> ids = new HashSet<>();
        for (int i = 0; i < 10; i++) {
            assertThat(ids.add((i % 2 == 0 ? redisson : other).getIdGenerator("ids").nextId())).isTrue();
        }
        RBucket<String> bucket = redisson.getBucket("bucket");
        assertThat(bucket.compareAndSet(null, "a")).isTrue();
        assertThat(bucket.compareAndSet("b", "c")).isFalse();
        assertThat(bucket.getAndSet("d")).isEqualTo("a");
        RTransaction transaction = redisson.createTransaction(TransactionOptions.defaults());
        transaction.<String, String>getMap("transaction").put("k", "v");
        transaction.<String>getBucket("bucket").set("in transaction");
        assertThat(bucket.get()).isEqualTo("d");
        transaction.commit();
        assertThat(bucket.get()).isEqualTo("in transaction");
        assertThat(redisson.<String, String>getMap("transaction").get("k")).isEqualTo("v");
    }

    @Test
    void scriptsAndStreams() {
        RScript script = redisson.getScript(StringCodec.INSTANCE);
        String digest = script.scriptLoad("return redis.call('incrby', KEYS[1], ARGV[1])");
        assertThat(
                script.<Long>evalSha(RScript.Mode.READ_WRITE, digest, RScript.ReturnType.LONG, List.of("script"), "3"))
                .isEqualTo(3L);
        RStream<String, String> stream = redisson.getStream("stream", StringCodec.INSTANCE);
        stream.createGroup(StreamCreateGroupArgs.name("group").makeStream());
        StreamMessageId id = stream.add(StreamAddArgs.entry("k", "v"));
        assertThat(stream.readGroup("group", "consumer", StreamReadGroupArgs.neverDelivered()))
                .isEqualTo(Map.of(id, Map.of("k", "v")));
        assertThat(stream.getPendingInfo("group").getTotal()).isEqualTo(1);
        assertThat(stream.ack("group", id)).isEqualTo(1);
    }
}
