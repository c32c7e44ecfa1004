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
 * How long does an operation take in Varve's cache, called in process, beside other caches, and how many bytes does an entry
 * take there? The cache is shared; each thread that measures has a door of its own.
 *
 * <p>Keys of 16 bytes, values of 100, everything fits; {@link Operations} says what is done with which key, {@link CacheType}
 * with which cache. A value that is read is copied into an array. Varve's maintenance runs on a thread of its own meanwhile,
 * which takes next to nothing of another core. It cannot see eviction or expiry, values of other sizes, nor what a cache does
 * when many threads meet.
 *
 * <p>Run, one after the other, as the larger number of entries takes up to 3 GB beside the heap:
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
// The opens and exports are Chronicle's, sun.misc.Unsafe is what three of them reach their memory with.
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
    /** The others are away at the moment. */
    private static final double LEAST_HIT_RATIO = 0.97;

    @Param
    public CacheType cache = CacheType.VARVE;

    @Param({"1000000", "10000000"})
    public int entries;

    private ComparedCache opened;
    private Operations operations;

    @Setup
    public void fill() {
        operations = new Operations(entries, SEED);
        // Classes and compiled code are in place then, and are not counted as memory of entries.
        try (ComparedCache rehearsal = cache.open(REHEARSAL_ENTRIES)) {
            fill(rehearsal, REHEARSAL_ENTRIES);
        }
        long before = BytesPerEntry.bytesInUse();
        opened = cache.open(entries);
        fill(opened, entries);
        BytesPerEntry.record((double) (BytesPerEntry.bytesInUse() - before) / entries);
        ComparedCache.Door door = opened.open();
        byte[] value = new byte[ComparedCache.VALUE_BYTES];
        SplittableRandom sample = new SplittableRandom(SEED);
        for (int i = 0; i < SAMPLES; i++) {
            int number = sample.nextInt(entries);
            if (!door.get(number, value) || !isValueOf(number, value) || door.get(number + (1L << 40), value)) {
                throw new IllegalStateException("Key " + number + " has not its value, or its absent twin has one");
            }
        }
    }

    private static void fill(ComparedCache cache, int entries) {
        ComparedCache.Door door = cache.open();
        byte[] value = new byte[ComparedCache.VALUE_BYTES];
        for (int number = 0; number < entries; number++) {
            door.put(number, valueOf(number, value));
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

    /** Nothing was evicted. */
    @TearDown
    public void close() {
        long size = opened.size();
        if (size > entries || size < entries * LEAST_HIT_RATIO) {
            throw new IllegalStateException(cache + " holds " + size + " entries of " + entries);
        }
        opened.close();
    }

    /** A thread that measures, at a place of its own in the ring of operations. Confined to it. */
    @State(Scope.Thread)
    public static class Client {
        private final byte[] read = new byte[ComparedCache.VALUE_BYTES];
        private final byte[] written = new byte[ComparedCache.VALUE_BYTES];
        private ComparedCache.Door door;
        private Operations operations;
        private int next;
        private long reads;
        private long hits;

        @Setup
        public void open(CacheComparisonBenchmark shared, ThreadParams threads) {
            door = shared.opened.open();
            operations = shared.operations;
            next = operations.count() / threads.getThreadCount() * threads.getThreadIndex();
        }

        @TearDown
        public void proveHits() {
            if (hits < reads * LEAST_HIT_RATIO) {
                throw new IllegalStateException("Of " + reads + " reads only " + hits + " were hits");
            }
        }

        private int get(int number) {
            reads++;
            if (door.get(number, read)) {
                hits++;
            }
            return read[0];
        }
    }

    /** 80 % reads; the rest updates, removals, and puts of what was removed. */
    @Benchmark
    public int mixed(Client client) {
        int operation = client.operations.get(client.next++);
        int number = Operations.number(operation);
        switch (Operations.kind(operation)) {
            case Operations.READ -> {
                return client.get(number);
            }
            case Operations.REMOVE -> client.door.remove(number);
            default -> client.door.put(number, valueOf(number, client.written));
        }
        return number;
    }

    /** The same keys, reads alone. */
    @Benchmark
    public int reads(Client client) {
        return client.get(Operations.number(client.operations.get(client.next++)));
    }
}
