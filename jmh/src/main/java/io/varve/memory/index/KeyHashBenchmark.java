package io.varve.memory.index;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;

import com.dynatrace.hash4j.hashing.ByteAccess;
import com.dynatrace.hash4j.hashing.Hasher64;
import com.dynatrace.hash4j.hashing.Hashing;
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
 * How much does the hash of a key in native memory cost, compared with a library's hash of these bytes, there or in an
 * array? Confined to the thread that measures.
 *
 * <p>The key stays in the first-level cache and its length is constant in each run, so the benchmark cannot see cache
 * misses or mispredicted lengths.
 *
 * <p>Run: {@code ./varve jmh KeyHashBenchmark}
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 1, jvmArgsAppend = {"--add-modules=jdk.incubator.vector", "--enable-native-access=ALL-UNNAMED"})
public class KeyHashBenchmark {
    private static final long SEED = 11;
    private static final ByteAccess<byte[]> ARRAY = ByteAccess.forByteArray();
    private static final ByteAccess<MemorySegment> NATIVE = ByteAccess.forMemorySegment(MemorySegment.class);

    /** Bytes of the key. */
    @Param({"8", "16", "32", "64", "129"})
    public int length;

    private final Regions regions = new Regions();
    private final KeyHash keyHash = new KeyHash(SEED);
    private final Hasher64 hasher = Hashing.xxh3_64(SEED);
    private long address;
    private byte[] array = {};

    @Setup
    public void fill() {
        address = regions.allocate(Regions.MIN_BYTES);
        array = new byte[length];
        for (int i = 0; i < length; i++) {
            array[i] = (byte) (i * 37);
        }
        Memory.copy(array, 0, address, length);
        proveEqual();
    }

    @TearDown
    public void proveEqual() {
        if (offHeap() != array()) {
            throw new IllegalStateException("Native memory and array do not hash alike");
        }
    }

    @Benchmark
    public long offHeap() {
        return keyHash.hash(address, length);
    }

    @Benchmark
    public long library() {
        return hasher.hashBytesToLong(Memory.all(), address, length, NATIVE);
    }

    @Benchmark
    public long array() {
        return hasher.hashBytesToLong(array, 0, length, ARRAY);
    }
}
