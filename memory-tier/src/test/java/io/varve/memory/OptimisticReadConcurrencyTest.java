package io.varve.memory;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicIntegerArray;

import io.varve.memory.config.CacheConfig;
import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.LiveRanges;
import io.varve.memory.offheap.Memory;
import io.varve.memory.report.CacheStats;
import io.varve.memory.testing.CacheFixture;
import io.varve.testing.TestBudget;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Reads without a lock, while another thread overwrites, deletes, expires, cleans, evicts and rehashes: each read
 * returns an item that was current between its begin and its end, or none.
 *
 * <p>One thread writes. The states of a key are numbered: every third is no item, the others are values of many equal
 * bytes. Every third key expires soon. The writer publishes the number before and after each write, so a reader knows
 * the states that were current during its read. Under one lock, the writer deletes the key and writes a value that
 * nobody may read, before it brings the key into its next state.
 */
final class OptimisticReadConcurrencyTest {
    private static final int KEYS = 300;
    private static final int READERS = 2;
    private static final int STATES = 3;
    /** The state, modulo {@link #STATES}, in which a key has no item. */
    private static final int ABSENT = 0;
    private static final int NONE = -1;
    /** A state that the writer never publishes. */
    private static final int SECRET = -2;
    private static final int MAX_VALUE_BYTES = 700;
    private static final int FILLERS = 6000;
    /** So that the fillers need more than the memory under a policy that evicts. */
    private static final int FILLER_BYTES = 600;
    private static final int OPERATIONS = TestBudget.ofInt("varve.concurrency.operations", 60_000, 3_000_000);

    private final AtomicIntegerArray begun = new AtomicIntegerArray(KEYS);
    private final AtomicIntegerArray done = new AtomicIntegerArray(KEYS);
    private final AtomicBoolean over = new AtomicBoolean();

    @ParameterizedTest
    @EnumSource(value = EvictionPolicy.class, names = {"NOEVICTION", "ALLKEYS_LRU"})
    void readsAreWholeAndCurrent(EvictionPolicy policy) throws Exception {
        for (int i = 0; i < KEYS; i++) {
            begun.set(i, ABSENT);
            done.set(i, ABSENT);
        }
        try (Cache cache = Cache.open(CacheConfig.defaults(policy.evicts() ? 1 << 20 : 64 << 20).withShards(2)
                .withSegmentSizeBytes(8192).withMaxOpenSegments(3).withExpireBaseMillis(20).withExpireBuckets(10)
                .withExpireCycleMillis(5).withEvictionPolicy(policy))) {
            ExecutorService pool = Executors.newCachedThreadPool();
            try {
                Future<?> maintenance = pool.submit(() -> {
                    while (!over.get()) {
                        cache.maintain();
                        Thread.onSpinWait();
                    }
                });
                List<Future<Long>> readers = new ArrayList<>();
                for (int i = 0; i < READERS; i++) {
                    int number = i;
                    readers.add(pool.submit(() -> new Worker(cache, number).read(policy.evicts())));
                }
                try {
                    pool.submit(() -> new Worker(cache, READERS).write()).get();
                } finally {
                    over.set(true);
                }
                long reads = 0;
                for (Future<Long> reader : readers) {
                    reads += reader.get();
                }
                maintenance.get();
                assertThat(reads).as("reads without the lock").isGreaterThan(OPERATIONS / 20);
                CacheStats stats = cache.stats();
                assertThat(stats.expired()).as("items expired").isPositive();
                assertThat(stats.segmentsCleaned()).as("segments cleaned").isPositive();
                assertThat(stats.evicted() > 0).as("items were evicted").isEqualTo(policy.evicts());
                assertThat(cache.checkIntegrity()).isEmpty();
            } finally {
                over.set(true);
                pool.shutdownNow();
            }
        }
    }

    /** A session with its buffers. Confined to one thread. */
    private final class Worker {
        private final Cache cache;
        private final CacheSession session;
        private final SplittableRandom random;
        private final Arena arena = Arena.ofAuto();
        private final long name = buffer(64);
        private final long value = buffer(MAX_VALUE_BYTES);
        private final Key key = new Key();
        private final Item item = new Item();

        Worker(Cache cache, int seed) {
            this.cache = cache;
            session = cache.newSession();
            random = new SplittableRandom(seed);
        }

        private long buffer(int bytes) {
            long address = arena.allocate(bytes).address();
            LiveRanges.add(address, bytes);
            return address;
        }

        private void bind(String text) {
            byte[] bytes = CacheFixture.bytes(text);
            Memory.copy(bytes, 0, name, bytes.length);
            session.now(System.currentTimeMillis());
            session.bind(key, 0, name, bytes.length);
        }

        Void write() {
            for (int i = 0; i < OPERATIONS; i++) {
                int number = random.nextInt(KEYS);
                int next = begun.get(number) + 1;
                begun.set(number, next);
                bind("k" + number);
                cache.admit(2 * (MAX_VALUE_BYTES + 100L));
                locked(() -> {
                    session.delete(key);
                    set(number, SECRET);
                    if (next % STATES == ABSENT) {
                        session.delete(key);
                    } else {
                        set(number, next);
                    }
                });
                done.set(number, next);
                bind("filler" + random.nextInt(i / (OPERATIONS / 4) % 2 == 0 ? FILLERS : FILLERS / 10));
                if (i / (OPERATIONS / 4) % 2 == 0) {
                    cache.admit(FILLER_BYTES + 100L);
                    locked(() -> session.set(key, ItemType.STRING, 0, value, FILLER_BYTES,
                            random.nextBoolean() ? session.now() + random.nextInt(50) : Item.NEVER));
                } else {
                    locked(() -> session.delete(key));
                }
            }
            return null;
        }

        private void set(int number, int state) {
            int length = 8 + random.nextInt(MAX_VALUE_BYTES - 8);
            Memory.putInt(value, number);
            Memory.putInt(value + 4, state);
            for (int i = 8; i < length; i++) {
                Memory.putByte(value + i, (byte) state);
            }
            long end = number % 3 == 0 ? session.now() + random.nextInt(100) : Item.NEVER;
            session.set(key, ItemType.STRING, 0, value, length, end);
        }

        private void locked(Runnable write) {
            session.lock(key);
            try {
                write.run();
            } finally {
                session.unlock(key);
            }
        }

        /** @return the number of reads without the lock */
        long read(boolean mayVanish) {
            long reads = 0;
            while (!over.get()) {
                int number = random.nextInt(KEYS);
                int before = done.get(number);
                bind("k" + number);
                if (!session.beginOptimisticRead(key) || !session.confirmOptimisticRead()) {
                    locked(() -> session.find(key, item));
                    continue;
                }
                int found = NONE;
                try {
                    if (session.find(key, item)) {
                        found = stateOf(number);
                    }
                } finally {
                    session.endOptimisticRead();
                }
                int after = begun.get(number);
                reads++;
                if (found != NONE) {
                    assertThat(found).as("key %s", number).isBetween(before, after);
                    assertThat(!item.expires() || item.expireAtMillis() >= session.now())
                            .as("key %s has not expired", number)
                            .isTrue();
                } else if (!mayVanish && number % 3 != 0) {
                    assertThat(before + (ABSENT + STATES - before % STATES) % STATES)
                            .as("state without an item of key %s", number)
                            .isBetween(before, after);
                }
            }
            return reads;
        }

        private int stateOf(int number) {
            int state = Memory.getInt(item.valueAddress() + 4);
            assertThat(Memory.getInt(item.valueAddress())).isEqualTo(number);
            for (int i = 8; i < item.valueLength(); i++) {
                if (Memory.getByte(item.valueAddress() + i) != (byte) state) {
                    throw new AssertionError("a mix of two values of key " + number + " at byte " + i);
                }
            }
            return state;
        }
    }
}
