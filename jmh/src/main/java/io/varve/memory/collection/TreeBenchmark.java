package io.varve.memory.collection;

import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

import io.varve.memory.Cache;
import io.varve.memory.CacheSession;
import io.varve.memory.collection.tree.TreeFiller;
import io.varve.memory.config.CacheConfig;
import io.varve.memory.item.Item;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.memory.offheap.Regions;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * How much does an operation on an element of a large collection cost, including the key's lookup and the lock?
 * Confined to the thread that measures.
 *
 * <p>Elements are drawn uniformly and named as those of redis-benchmark. All four collections are used before the
 * measurement, so that no method is compiled for one of them alone. The benchmark cannot see the cost of a request
 * around the operation.
 *
 * <p>Run: {@code ./varve jmh TreeBenchmark}
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 1, jvmArgsAppend = {"--add-modules=jdk.incubator.vector", "--enable-native-access=ALL-UNNAMED"})
public class TreeBenchmark {
    private static final byte[] NAME = "element:000000000000".getBytes(java.nio.charset.StandardCharsets.ISO_8859_1);
    private static final int KEY_BYTES = 8;
    private static final int VALUE_BYTES = 3;
    private static final int ROUNDS = 50_000;

    @Param({"100000", "1000000"})
    public int entries;

    private final Regions regions = new Regions();
    private final Key key = new Key();
    private final Item item = new Item();
    private final ListTree list = new ListTree();
    private final SetTree set = new SetTree();
    private final HashTree hash = new HashTree();
    private final SortedSetTree sortedSet = new SortedSetTree();
    private final SplittableRandom random = new SplittableRandom(1);
    private Cache cache;
    private CacheSession session;
    private long buffer;
    private long name;
    private long value;

    @Setup
    public void fill() {
        cache = Cache.open(CacheConfig.defaults(2L << 30).withShards(1));
        session = cache.newSession();
        buffer = regions.allocate(Regions.MIN_BYTES);
        name = buffer + 64;
        value = buffer + 128;
        Memory.copy(NAME, 0, name, NAME.length);
        make(list, () -> list.addLast(name, NAME.length));
        make(set, () -> set.add(name, NAME.length));
        make(hash, () -> hash.put(name, NAME.length, value, VALUE_BYTES));
        make(sortedSet, () -> sortedSet.put(name, NAME.length, 0));
        for (int i = 0; i < entries; i++) {
            named(i);
            open(list).addLast(name, NAME.length);
            close();
            open(set).add(name, NAME.length);
            close();
            open(hash).put(name, NAME.length, value, VALUE_BYTES);
            close();
            open(sortedSet).put(name, NAME.length, random.nextInt(entries));
            close();
            if (i % 1000 == 0) {
                cache.maintain();
            }
        }
        for (int i = 0; i < Math.min(ROUNDS, entries); i++) {
            if (!findMember() || !replaceField() || !moveMember() || listTurn() != entries + 1) {
                throw new IllegalStateException("An element is not there");
            }
        }
    }

    @TearDown
    public void prove() {
        java.util.List<String> failures = cache.checkIntegrity();
        if (!failures.isEmpty()) {
            throw new IllegalStateException(failures.toString());
        }
        cache.close();
        regions.free(buffer, Regions.MIN_BYTES);
    }

    /** The part that all others include: the way to the collection. */
    @Benchmark
    public long openAlone() {
        draw();
        try {
            return open(set).size();
        } finally {
            close();
        }
    }

    /** The work of SISMEMBER, and of SADD of an existing member. */
    @Benchmark
    public boolean findMember() {
        draw();
        try {
            return open(set).find(name, NAME.length);
        } finally {
            close();
        }
    }

    /** The work of HSET of an existing field. */
    @Benchmark
    public boolean replaceField() {
        draw();
        try {
            return !open(hash).put(name, NAME.length, value, VALUE_BYTES);
        } finally {
            close();
        }
    }

    /** The work of ZADD of an existing member, which gets another score. */
    @Benchmark
    public boolean moveMember() {
        draw();
        try {
            return !open(sortedSet).put(name, NAME.length, random.nextInt(entries));
        } finally {
            close();
        }
    }

    /** The work of one LPUSH and one RPOP. */
    @Benchmark
    public long listTurn() {
        draw();
        try {
            open(list).addFirst(name, NAME.length);
            list.last();
            list.remove();
            return list.size();
        } finally {
            close();
        }
    }

    private void make(CollectionTree tree, TreeFiller filler) {
        lock(tree);
        try {
            session.makeTree(key, item, tree, Item.NEVER, filler);
        } finally {
            close();
        }
    }

    private <T extends CollectionTree> T open(T tree) {
        lock(tree);
        if (!session.findForWriting(key, item)) {
            throw new IllegalStateException("The " + tree.type() + " does not exist");
        }
        session.open(key, item, tree);
        return tree;
    }

    private void lock(CollectionTree tree) {
        Memory.putLong(buffer, tree.type().code());
        session.bind(key, 0, buffer, KEY_BYTES);
        session.lock(key);
    }

    private void close() {
        session.unlock(key);
    }

    private void draw() {
        named(random.nextInt(entries));
    }

    private void named(int number) {
        int rest = number;
        for (long at = name + NAME.length - 1; at >= name + NAME.length - 7; at--) {
            Memory.putByte(at, (byte) ('0' + rest % 10));
            rest /= 10;
        }
    }
}
