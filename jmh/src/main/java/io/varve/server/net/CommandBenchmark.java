package io.varve.server.net;

import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

import io.varve.memory.Cache;
import io.varve.server.command.ServerState;
import io.varve.server.command.registry.CommandFamilies;
import io.varve.server.config.ServerConfig;
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

import static io.varve.server.net.EmbeddedConnection.words;

/**
 * How much does a command cost from the bytes received to the bytes to be sent, alone and in pipelines of 16 and 64?
 * Confined to the thread that measures.
 *
 * <p>The connection handler runs in an embedded channel, over a cache that holds every key. Keys are drawn at random
 * and the requests encoded in advance, and each batch is copied once into a buffer, as from a socket. The benchmark
 * cannot see the cost of system calls, nor of a server's other threads. Time and allocation are per command and include
 * the buffers for input and replies. Settings and kind of thread are those of a server that {@code ./varve serve}
 * starts.
 *
 * <p>Run: {@code ./varve jmh CommandBenchmark -prof gc}; for the cost of recording: {@code -p mrcTracking=no,yes}, or
 * {@code penaltyTracking}
 */
@State(Scope.Thread)
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
public class CommandBenchmark {
    private static final int LONG_PIPELINE = 64;
    private static final int PIPELINE = 16;
    /** The command under test. */
    public enum Command {
        GET {
            @Override
            String request(String key, String value) {
                return words("GET", key);
            }
        },
        SET {
            @Override
            String request(String key, String value) {
                return words("SET", key, value);
            }
        },
        SET_EX {
            @Override
            String request(String key, String value) {
                return words("SET", key, value, "EX", "60");
            }
        },
        HGET {
            @Override
            String request(String key, String value) {
                return words("HGET", "hash:" + key, "field3");
            }
        };

        abstract String request(String key, String value);
    }

    @Param({"GET", "SET", "SET_EX", "HGET"})
    public Command command = Command.GET;

    @Param({"1000000"})
    public int keys;

    @Param({"16"})
    public int valueBytes;

    /** Whether accesses are recorded for the miss-ratio curve. */
    @Param({"no"})
    public String mrcTracking = "no";

    /** Whether the cost of misses is measured. */
    @Param({"no"})
    public String penaltyTracking = "no";

    private Cache cache;
    private EmbeddedConnection connection;
    private EncodedRequests requests;

    @Setup
    public void fill() {
        cache = Cache.open(ServerConfig.defaults().with("maxmemory", "4gb").with("mrc-tracking", mrcTracking)
                .with("penalty-tracking", penaltyTracking).cacheConfig());
        ServerState server = new ServerState(cache, ServerConfig.defaults(), cache.config().ticker(), _ -> {});
        connection = new EmbeddedConnection(server, CommandFamilies.table(server));
        String value = "x".repeat(valueBytes);
        for (int key = 0; key < keys; key++) {
            String name = key(key);
            connection.send(command == Command.HGET
                    ? words("HSET", "hash:" + name, "field1", value, "field2", value, "field3", value)
                    : command == Command.SET_EX ? words("SET", name, value, "EX", "60") : words("SET", name, value));
        }
        SplittableRandom random = new SplittableRandom(42);
        requests = new EncodedRequests(number -> command.request(key(number), value), () -> random.nextInt(keys));
    }

    private static String key(int number) {
        return "key:%012d".formatted(number);
    }

    @TearDown
    public void close() {
        connection.close();
        requests.close();
        cache.close();
    }

    @Benchmark
    public long alone() {
        return requests.send(connection, 1);
    }

    @Benchmark
    @OperationsPerInvocation(PIPELINE)
    public long pipelinedBy16() {
        return requests.send(connection, PIPELINE);
    }

    @Benchmark
    @OperationsPerInvocation(LONG_PIPELINE)
    public long pipelinedBy64() {
        return requests.send(connection, LONG_PIPELINE);
    }
}
