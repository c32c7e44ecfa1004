package io.varve.flash.tier;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

import io.varve.flash.store.FlashStore;
import io.varve.memory.Cache;
import io.varve.memory.CacheSession;
import io.varve.memory.config.CacheConfig;
import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.item.SecondaryTier;
import io.varve.memory.item.Ticker;
import io.varve.memory.offheap.Memory;
import org.jspecify.annotations.Nullable;

/**
 * A small cache with a flash tier, and a client that acts as a server does: it looks up keys under the lock, and
 * fetches keys that may be on flash first. Confined to the test's thread, except the tier's own.
 */
final class TierFixture implements AutoCloseable {
    static final int DATABASES = 3;
    static final String BOOT = "boot 1";
    private static final long MEMORY_BYTES = 1 << 20;
    private static final int SEGMENT_BYTES = 4096;
    private static final int SHARDS = 4;
    private static final int MAX_PUSHED = 50_000;
    private static final int MAX_FETCHES = 100;
    /** As the server's. */
    private static final int MAX_WRITES = 12;
    private static final long WAIT_SECONDS = 60;

    final Cache cache;
    final FlashTier tier;
    private final CacheSession session;
    private final Key key = new Key();
    private final Item item = new Item();
    private boolean tierClosed;

    TierFixture(Path directory, Function<Path, FlashStore> opener, FlashTierSettings settings) {
        this(directory, opener, settings, BOOT);
    }

    TierFixture(Path directory, Function<Path, FlashStore> opener, FlashTierSettings settings, String boot) {
        this(directory, opener, settings, boot, UnaryOperator.identity());
    }

    /** @param more what the cache is to have besides */
    TierFixture(Path directory, Function<Path, FlashStore> opener, FlashTierSettings settings, String boot,
            UnaryOperator<CacheConfig> more) {
        TierFiles files = TierFiles.open(directory, opener, DATABASES, settings.sync(), System.currentTimeMillis(),
                boot);
        cache = Cache.open(more.apply(CacheConfig.defaults(MEMORY_BYTES).withDatabases(DATABASES).withShards(SHARDS)
                .withSegmentSizeBytes(SEGMENT_BYTES).withMaxOpenSegments(1).withHashSeed(files.hashSeed())
                .withEvictionPolicy(EvictionPolicy.ALLKEYS_LRU)));
        tier = FlashTier.start(files, cache, settings);
        session = cache.newSession();
    }

    /** A fixture whose clock stands at these milliseconds. */
    static TierFixture at(AtomicLong millis, Path directory, Function<Path, FlashStore> opener,
            FlashTierSettings settings) {
        return new TierFixture(directory, opener, settings, BOOT, config -> config.withTicker(new Ticker() {
            @Override
            public long wallMillis() {
                return millis.get();
            }

            @Override
            public long nanoTime() {
                return TimeUnit.MILLISECONDS.toNanos(millis.get());
            }
        }));
    }

    /** Requests a key this many times at once, and returns the outcomes. */
    CompletableFuture<List<Fetch.Outcome>> fetch(int database, String name, int times) {
        CompletableFuture<Boolean> known = new CompletableFuture<>();
        Fetch fetch = new Fetch(() -> known.complete(true));
        fetch(fetch, database, name, times);
        return known.thenApply(_ -> IntStream.range(0, times).mapToObj(fetch::outcome).toList());
    }

    /** Asks for a key and has something run when it is known what became of it. */
    void fetch(int database, String name, Runnable onComplete) {
        fetch(new Fetch(onComplete), database, name, 1);
    }

    private void fetch(Fetch fetch, int database, String name, int times) {
        byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(Math.max(1, bytes.length));
            Memory.copy(bytes, 0, memory.address(), bytes.length);
            session.bind(key, database, memory.address(), bytes.length);
            for (int i = 0; i < times; i++) {
                fetch.add(database, session.epoch(database), key.hash(), bytes);
            }
        }
        tier.fetch(fetch);
    }

    /** Runs an action under the key's lock, once an item on flash is in memory. */
    private <T extends @Nullable Object> T withKey(int database, String name, Supplier<T> action) {
        byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(Math.max(1, bytes.length));
            Memory.copy(bytes, 0, memory.address(), bytes.length);
            long absentInEpoch = -1;
            int absentAt = 0;
            for (int fetches = 0; fetches < MAX_FETCHES; fetches++) {
                session.now(cache.config().ticker().wallMillis());
                session.bind(key, database, memory.address(), bytes.length);
                session.lock(key);
                long epoch;
                int demotions;
                try {
                    epoch = session.epoch(database);
                    demotions = tier.demotions(key.hash());
                    if (session.peek(key, item) || !tier.mightContain(epoch, key.hash())
                            || epoch == absentInEpoch && demotions == absentAt) {
                        return action.get();
                    }
                } finally {
                    session.unlock(key);
                }
                CompletableFuture<Boolean> known = new CompletableFuture<>();
                Fetch fetch = new Fetch(() -> known.complete(true));
                fetch.add(database, epoch, key.hash(), bytes);
                tier.fetch(fetch);
                join(known);
                if (fetch.outcome(0) == Fetch.Outcome.ABSENT) {
                    absentInEpoch = epoch;
                    absentAt = demotions;
                }
            }
            throw new IllegalStateException("The key " + name + " was not to be had");
        }
    }

    static <T> T join(CompletableFuture<T> known) {
        return known.orTimeout(WAIT_SECONDS, TimeUnit.SECONDS).join();
    }

    @Nullable
    String get(int database, String name) {
        return withKey(database, name, () -> session.find(key, item)
                ? new String(Memory.toArray(item.valueAddress(), item.valueLength()), StandardCharsets.UTF_8)
                : null);
    }

    void set(int database, String name, String value) {
        set(database, name, value, Item.NEVER);
    }

    void set(int database, String name, String value, long expireAtMillis) {
        byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
        admitted(name.length() + bytes.length + 200L, () -> withKey(database, name, () -> {
            session.put(key, item, ItemType.STRING, 0, bytes.length, bytes.length, expireAtMillis);
            Memory.copy(bytes, 0, item.valueAddress(), bytes.length);
            session.changed(key, Change.SET);
            return true;
        }));
    }

    /**
     * Runs a write that needs this much memory, again if items that came from flash meanwhile have taken what it was
     * promised.
     */
    private void admitted(long bytes, BooleanSupplier write) {
        boolean done = false;
        for (int attempt = 0; !done; attempt++) {
            if (!cache.admit(bytes)) {
                throw new IllegalStateException("no room");
            }
            try {
                done = write.getAsBoolean();
            } catch (CacheFullException full) {
                if (attempt == MAX_WRITES || !full.isRecoverable()) {
                    throw full;
                }
            }
        }
    }

    /** Sets a key that has never existed, without a lookup on flash. */
    void setNew(int database, String name, String value) {
        byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
        admitted(name.length() + bytes.length + 200L, () -> withBound(database, name, () -> {
            session.put(key, item, ItemType.STRING, 0, bytes.length, bytes.length, Item.NEVER);
            Memory.copy(bytes, 0, item.valueAddress(), bytes.length);
            session.changed(key, Change.SET);
            return true;
        }));
    }

    /** Sets the penalty class of items that are written from now on. */
    void writesInto(int penaltyClass) {
        session.writesInto(penaltyClass);
    }

    /** Class of penalty of what is in memory; -1 if it is not there. */
    int classInMemory(int database, String name) {
        int[] found = {-1};
        boolean is = withBound(database, name, () -> {
            boolean there = session.peek(key, item);
            found[0] = there ? session.penaltyClass(item) : -1;
            return there;
        });
        assert is == found[0] >= 0;
        return found[0];
    }

    /**
     * The tier's answer to the offer of an item in memory; null if the item is not there. A taken item leaves memory.
     */
    SecondaryTier.@Nullable Answer offer(int database, String name) {
        SecondaryTier.@Nullable Answer[] answer = new SecondaryTier.Answer[1];
        boolean gone = withBound(database, name, () -> {
            if (session.peek(key, item)) {
                answer[0] = tier.offer(session.epoch(database), key.hash(), item, 0, 0);
            }
            return answer[0] == SecondaryTier.Answer.TAKEN && session.delete(key);
        });
        assert gone == (answer[0] == SecondaryTier.Answer.TAKEN);
        return answer[0];
    }

    /** Does something while this thread has the key's shard. */
    void whileHeld(int database, String name, Runnable action) {
        boolean done = withBound(database, name, () -> {
            action.run();
            return true;
        });
        assert done;
    }

    /** Whether flash may hold the key. */
    boolean mightContain(int database, String name) {
        return withBound(database, name, () -> tier.mightContain(session.epoch(database), key.hash()));
    }

    private boolean withBound(int database, String name, BooleanSupplier action) {
        byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(Math.max(1, bytes.length));
            Memory.copy(bytes, 0, memory.address(), bytes.length);
            session.now(cache.config().ticker().wallMillis());
            session.bind(key, database, memory.address(), bytes.length);
            session.lock(key);
            try {
                return action.getAsBoolean();
            } finally {
                session.unlock(key);
            }
        }
    }

    boolean delete(int database, String name) {
        return withKey(database, name, () -> session.delete(key));
    }

    /** Type, encoding, expiry time and access bits of what is there; empty if nothing is. */
    List<Long> facts(int database, String name) {
        return withKey(database, name, () -> session.peek(key, item)
                ? List.of((long) item.type().code(), (long) item.encoding(), item.expireAtMillis())
                : List.of());
    }

    void put(int database, String name, ItemType type, int encoding, String value, long expireAtMillis) {
        byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
        admitted(name.length() + bytes.length + 200L, () -> withKey(database, name, () -> {
            session.put(key, item, type, encoding, bytes.length, bytes.length, expireAtMillis);
            Memory.copy(bytes, 0, item.valueAddress(), bytes.length);
            session.changed(key, Change.SET);
            return true;
        }));
    }

    /** In both tiers. */
    long size(int database) {
        CompletableFuture<Boolean> complete = new CompletableFuture<>();
        tier.whenComplete(() -> complete.complete(true));
        join(complete);
        return cache.size(database, tier::count);
    }

    /** Writes to a database until all items of the others are demoted. */
    void demoteOthers(int database, String prefix) {
        long others = 1;
        for (int i = 0; i < 2 * MEMORY_BYTES / 1000 || others > 0; i++) {
            if (i > MAX_PUSHED) {
                throw new IllegalStateException(others + " stay in memory");
            }
            set(database, prefix + i, "x".repeat(1000));
            others = 0;
            for (int other = 0; other < DATABASES; other++) {
                others += other == database ? 0 : cache.size(other);
            }
        }
    }

    /** Waits until nothing is falling, or about to go. */
    void settle() {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_SECONDS);
        while (tier.stats().queueDepth() > 0 || tier.removals().count() > 0) {
            if (System.nanoTime() - deadline > 0) {
                throw new IllegalStateException("still falling: " + tier.stats());
            }
            Thread.onSpinWait();
        }
    }

    List<String> problems() {
        return new ArrayList<>(cache.checkIntegrity());
    }

    /** Closed first: its counters do not change afterwards. */
    void closeTier() {
        if (!tierClosed) {
            tierClosed = true;
            tier.close();
        }
    }

    @Override
    public void close() {
        closeTier();
        cache.close();
    }
}
