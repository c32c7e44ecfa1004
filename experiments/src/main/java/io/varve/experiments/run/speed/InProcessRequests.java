package io.varve.experiments.run.speed;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;

import io.varve.experiments.plan.KeyDistribution;
import io.varve.experiments.plan.RequestSet;
import io.varve.memory.CacheSession;
import io.varve.memory.InMemoryCache;
import io.varve.memory.config.CacheConfig;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.memory.offheap.Regions;
import io.varve.memory.shard.LookupTrace;

/**
 * The requests of the paper's clients on Varve's cache in this process: the steps of a GET and of a SET, without
 * sockets and without a protocol. Confined to one thread.
 *
 * <p>It shows what a request costs in index and memory alone: a server adds the system calls of its connection.
 */
final class InProcessRequests implements AutoCloseable {
    /** Maximum bytes of an item beside its key and value. */
    private static final int OVERHEAD_BYTES = 128;
    /** Number of requests between two readings of the clock; a server reads it once per batch. */
    private static final int CLOCK_REQUESTS = 64;

    private final RequestSet set;
    private final long seed;
    private final InMemoryCache cache;
    private final CacheSession session;
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment keyBytes;
    private final MemorySegment values;
    private final MemorySegment read;
    private final byte[] name;
    private final Key key = new Key();
    private final Item item = new Item();
    private int requests;

    /** @param maxmemoryBytes the limit of the cache */
    InProcessRequests(RequestSet set, long seed, long maxmemoryBytes) {
        this.set = set;
        this.seed = seed;
        cache = InMemoryCache.open(CacheConfig.defaults(maxmemoryBytes), new Regions());
        session = cache.newSession();
        name = new byte[set.keyBytes()];
        keyBytes = arena.allocate(set.keyBytes());
        values = arena.allocate(set.maxValueBytes());
        values.fill((byte) 'v');
        read = arena.allocate(set.maxValueBytes());
    }

    /** Writes each key once. */
    void load(long keys) {
        SplittableRandom random = new SplittableRandom(seed);
        for (long number = 0; number < keys; number++) {
            write(number, random.nextLong());
        }
    }

    /**
     * Runs a mix of reads and writes.
     *
     * @param readPercent reads, in percent of the requests
     * @param nanos how long it runs, ns
     * @return the time of a request, ns
     * @throws IllegalStateException if a read misses
     */
    double run(int readPercent, KeyDistribution keys, long nanos) {
        SplittableRandom random = new SplittableRandom(seed);
        long start = System.nanoTime();
        long done = 0;
        while (done % CLOCK_REQUESTS != 0 || System.nanoTime() - start < nanos) {
            long number = keys.next(random);
            if (random.nextInt(100) < readPercent) {
                read(number);
            } else {
                write(number, random.nextLong());
            }
            done++;
        }
        return (double) (System.nanoTime() - start) / done;
    }

    /** Visits the memory of index and items that a read of a key touches. */
    void trace(long number, LookupTrace.Visitor visitor) {
        bind(number);
        cache.traceLookup(key, visitor);
    }

    private void bind(long number) {
        if (requests++ % CLOCK_REQUESTS == 0) {
            session.now(System.currentTimeMillis());
        }
        set.putKey(seed, number, name);
        Memory.copy(name, 0, keyBytes.address(), name.length);
        session.bind(key, 0, keyBytes.address(), name.length);
    }

    private void read(long number) {
        bind(number);
        if (session.beginOptimisticRead(key) && session.confirmOptimisticRead()) {
            try {
                copy(number);
            } finally {
                session.endOptimisticRead();
            }
            return;
        }
        session.lock(key);
        try {
            copy(number);
        } finally {
            session.unlock(key);
        }
    }

    private void copy(long number) {
        if (!session.find(key, item)) {
            throw new IllegalStateException("key " + number + " is not in the cache");
        }
        Memory.copy(item.valueAddress(), read.address(), item.valueLength());
    }

    private void write(long number, long draw) {
        int bytes = set.valueBytes(seed, draw);
        bind(number);
        if (!cache.admit(bytes + (long) name.length + OVERHEAD_BYTES)) {
            throw new IllegalStateException("maxmemory is too small for the keys");
        }
        session.lock(key);
        try {
            session.set(key, ItemType.STRING, 0, values.address(), bytes, Item.NEVER);
        } finally {
            session.unlock(key);
        }
    }

    @Override
    public void close() {
        cache.close();
        arena.close();
    }
}
