package io.varve.memory;

import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

import io.varve.memory.compared.CacheType;
import io.varve.memory.compared.ComparedCache;
import io.varve.memory.compared.Operations;
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
import org.openjdk.jmh.infra.ThreadParams;

/**
 * How long does an operation take in Varve's cache, called in process, compared with other caches, and how many bytes
 * does an entry take there? The cache is shared; each measuring thread has its own session.
 *
 * <p>Keys have 16 bytes, values 100, and everything fits; {@link Operations} defines the operations and their keys,
 * {@link CacheType} the caches. A read copies the value into an array. Varve's maintenance runs on its own thread
 * meanwhile, which takes very little CPU time on another core. The benchmark cannot see eviction, expiry, values of
 * other sizes, or contention between many threads.
 *
 * <p>Run these one after the other, as the larger number of entries takes up to 3 GB beside the heap:
 *
 * <pre>
 * ./varve jmh CacheComparisonBenchmark -prof io.varve.memory.BytesPerEntry -rf json -rff FILE
 * ./varve jmh CacheComparisonBenchmark -p cache=CAFFEINE -p entries=10000000 -jvmArgsPrepend "-Xms4g -Xmx4g" ...
 * </pre>
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 2, time = 3)
@Measurement(iterations = 3, time = 3)
// The opens and exports are Chronicle's; three of them access their memory through sun.misc.Unsafe.
@Fork(value = 1, jvmArgsPrepend = {"-Xms1g", "-Xmx1g"}, jvmArgsAppend = {"-XX:+AlwaysPreTouch", "-XX:+UseSerialGC",
        "-XX:MaxDirectMemorySize=8g", "--add-modules=jdk.incubator.vector", "--enable-native-access=ALL-UNNAMED",
        "-XX:+UseCompactObjectHeaders", "--sun-misc-unsafe-memory-access=allow",
        "-Dorg.caffinitas.ohc.allocator=unsafe",
        "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED", "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
        "--add-exports=jdk.unsupported/sun.misc=ALL-UNNAMED",
        "--add-exports=jdk.compiler/com.sun.tools.javac.file=ALL-UNNAMED",
        "--add-opens=jdk.compiler/com.sun.tools.javac=ALL-UNNAMED", "--add-opens=java.base/java.lang=ALL-UNNAMED",
        "--add-opens=java.base/java.lang.reflect=ALL-UNNAMED", "--add-opens=java.base/java.io=ALL-UNNAMED",
        "--add-opens=java.base/java.nio=ALL-UNNAMED", "--add-opens=java.base/java.util=ALL-UNNAMED",
        "-Dchronicle.analytics.disable=true", "-Dchronicle.announcer.disable=true"})
public class CacheComparisonBenchmark {
    private static final int SEED = 42;
    private static final int REHEARSAL_ENTRIES = 10_000;
    private static final int SAMPLES = 1_000;
    /** The other entries are removed at the moment. */
    private static final double MIN_HIT_RATIO = 0.97;

    @Param
    public CacheType cache = CacheType.VARVE;

    @Param({"1000000", "10000000"})
    public int entries;

    private ComparedCache opened;
    private Operations operations;

    @Setup
    public void fill() {
        operations = new Operations(entries, SEED);
        // Loads classes and compiles code first, so that they do not count as memory of entries.
        try (ComparedCache rehearsal = cache.open(REHEARSAL_ENTRIES)) {
            fill(rehearsal, REHEARSAL_ENTRIES);
        }
        long before = BytesPerEntry.bytesInUse();
        opened = cache.open(entries);
        fill(opened, entries);
        BytesPerEntry.record((double) (BytesPerEntry.bytesInUse() - before) / entries);
        ComparedCache.CacheHandle handle = opened.open();
        byte[] value = new byte[ComparedCache.VALUE_BYTES];
        SplittableRandom sample = new SplittableRandom(SEED);
        for (int i = 0; i < SAMPLES; i++) {
            int number = sample.nextInt(entries);
            if (!handle.get(number, value) || !isValueOf(number, value) || handle.get(number + (1L << 40), value)) {
                throw new IllegalStateException("Key " + number + " has not its value, or its absent twin has one");
            }
        }
    }

    private static void fill(ComparedCache cache, int entries) {
        ComparedCache.CacheHandle handle = cache.open();
        byte[] value = new byte[ComparedCache.VALUE_BYTES];
        for (int number = 0; number < entries; number++) {
            handle.put(number, valueOf(number, value));
        }
    }

    private static byte[] valueOf(int number, byte[] into) {
        into[0] = (byte) number;
        into[ComparedCache.VALUE_BYTES - 1] = (byte) (number >>> Byte.SIZE);
        return into;
    }

    private static boolean isValueOf(int number, byte[] value) {
        return value[0] == (byte) number && value[ComparedCache.VALUE_BYTES - 1] == (byte) (number >>> Byte.SIZE);
    }

    /** Proves that nothing was evicted. */
    @TearDown
    public void close() {
        long size = opened.size();
        if (size > entries || size < entries * MIN_HIT_RATIO) {
            throw new IllegalStateException(cache + " holds " + size + " entries of " + entries);
        }
        opened.close();
    }

    /** A measuring thread, with its own position in the ring of operations. Confined to that thread. */
    @State(Scope.Thread)
    public static class Client {
        private final byte[] read = new byte[ComparedCache.VALUE_BYTES];
        private final byte[] written = new byte[ComparedCache.VALUE_BYTES];
        private ComparedCache.CacheHandle handle;
        private Operations operations;
        private int next;
        private long reads;
        private long hits;

        @Setup
        public void open(CacheComparisonBenchmark shared, ThreadParams threads) {
            handle = shared.opened.open();
            operations = shared.operations;
            next = operations.count() / threads.getThreadCount() * threads.getThreadIndex();
        }

        @TearDown
        public void proveHits() {
            if (hits < reads * MIN_HIT_RATIO) {
                throw new IllegalStateException("Of " + reads + " reads only " + hits + " were hits");
            }
        }

        private int get(int number) {
            reads++;
            if (handle.get(number, read)) {
                hits++;
            }
            return read[0];
        }
    }

    /** 80 % reads; the rest updates, removals, and puts of removed keys. */
    @Benchmark
    public int mixed(Client client) {
        int operation = client.operations.get(client.next++);
        int number = Operations.number(operation);
        switch (Operations.kind(operation)) {
            case Operations.READ -> {
                return client.get(number);
            }
            case Operations.REMOVE -> client.handle.remove(number);
            default -> client.handle.put(number, valueOf(number, client.written));
        }
        return number;
    }

    /** Reads only, of these keys. */
    @Benchmark
    public int reads(Client client) {
        return client.get(Operations.number(client.operations.get(client.next++)));
    }
}
