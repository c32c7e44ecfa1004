package io.varve.server.net;

import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;

import io.varve.memory.Cache;
import io.varve.server.command.CommandTable;
import io.varve.server.command.ServerState;
import io.varve.server.command.registry.CommandFamilies;
import io.varve.server.config.ServerConfig;
import org.apache.commons.math3.distribution.ZipfDistribution;
import org.apache.commons.math3.random.Well19937c;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * How much slower does a command become when several event loops use one cache? Each thread has a connection and a
 * worker; the cache is common. The time of a command with {@code -t 1}, divided by that with {@code -t 2}, is the share
 * of its speed that a thread keeps.
 *
 * <p>As in {@link CommandBenchmark}, no socket is involved. The threads need a core each.
 *
 * <p>Run: {@code ./varve jmh ScalingBenchmark -t 1} and {@code -t 2}
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(value = 1, jvmArgsAppend = {"--add-modules=jdk.incubator.vector", "--enable-native-access=ALL-UNNAMED",
        "-XX:+UseSerialGC", "-XX:+UseCondCardMark", "-XX:+UseCompactObjectHeaders", "-XX:MaxInlineLevel=30",
        "-XX:CompileCommand=quiet",
        "-XX:CompileCommand=dontinline,*Commands.*(Lio/varve/server/command/CommandContext;)V",
        "-XX:CompileCommand=dontinline,*Command.*(Lio/varve/server/command/CommandContext;)V",
        "-Dio.netty.leakDetection.level=disabled", "-Dio.netty.allocator.lowMemory=true",
        "-Djmh.executor=CUSTOM",
        "-Djmh.executor.class=io.varve.server.net.EventLoopThreads"})
public class ScalingBenchmark {
    private static final int LONG_PIPELINE = 64;
    private static final int PIPELINE = 16;
    /** That of YCSB. */
    private static final double ZIPF_EXPONENT = 0.99;

    /** The cache that all threads use. Thread-safe once filled. */
    @State(Scope.Benchmark)
    public static class Shared {
        @Param({"GET", "SET"})
        public String command = "GET";

        /** The distribution of keys: uniform or zipfian. */
        @Param({"uniform", "zipfian"})
        public String distribution = "uniform";

        @Param({"1000000"})
        public int keys;

        @Param({"16"})
        public int valueBytes;

        @Param({"noeviction", "allkeys-lru"})
        public String policy = "noeviction";

        private final AtomicInteger threads = new AtomicInteger();
        private Cache cache;
        private ServerState server;
        private CommandTable table;

        /** Fills the cache with every key. */
        @Setup
        public void fill() {
            cache = Cache.open(ServerConfig.defaults().with("maxmemory", "4gb").with("maxmemory-policy", policy)
                    .cacheConfig());
            server = new ServerState(cache, ServerConfig.defaults(), cache.config().ticker(), _ -> {});
            table = CommandFamilies.table(server);
            try (EmbeddedConnection connection = new EmbeddedConnection(server, table)) {
                for (int key = 0; key < keys; key++) {
                    connection.send(EmbeddedConnection.words("SET", name(key), "x".repeat(valueBytes)));
                }
            }
        }

        @TearDown
        public void close() {
            cache.close();
        }

        private String request(int key) {
            return command.equals("GET")
                    ? EmbeddedConnection.words("GET", name(key))
                    : EmbeddedConnection.words("SET", name(key), "x".repeat(valueBytes));
        }

        private static String name(int number) {
            return "key:%012d".formatted(number);
        }

        private IntSupplier draws() {
            int seed = threads.incrementAndGet();
            if (distribution.equals("uniform")) {
                SplittableRandom random = new SplittableRandom(seed);
                return () -> random.nextInt(keys);
            }
            ZipfDistribution ranks = new ZipfDistribution(new Well19937c(seed), keys, ZIPF_EXPONENT);
            return () -> ranks.sample() - 1;
        }
    }

    /** The connection of a thread. Confined to that thread. */
    @State(Scope.Thread)
    public static class Loop {
        private EmbeddedConnection connection;
        private EncodedRequests requests;

        @Setup
        public void open(Shared shared) {
            connection = new EmbeddedConnection(shared.server, shared.table);
            requests = new EncodedRequests(shared::request, shared.draws());
        }

        @TearDown
        public void close() {
            connection.close();
            requests.close();
        }
    }

    @Benchmark
    public long alone(Loop loop) {
        return loop.requests.send(loop.connection, 1);
    }

    @Benchmark
    @OperationsPerInvocation(PIPELINE)
    public long pipelinedBy16(Loop loop) {
        return loop.requests.send(loop.connection, PIPELINE);
    }

    @Benchmark
    @OperationsPerInvocation(LONG_PIPELINE)
    public long pipelinedBy64(Loop loop) {
        return loop.requests.send(loop.connection, LONG_PIPELINE);
    }
}
