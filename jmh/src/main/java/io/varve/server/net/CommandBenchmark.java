package io.varve.server.net;

import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.varve.memory.Cache;
import io.varve.memory.item.ValueRun;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.CommandTable;
import io.varve.server.command.ServerState;
import io.varve.server.command.registry.CommandFamilies;
import io.varve.server.config.ServerConfig;
import io.varve.server.resp.LargeBulks;
import org.jspecify.annotations.Nullable;
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
        "-XX:+UseSerialGC", "-XX:+UseCompactObjectHeaders", "-XX:MaxInlineLevel=30",
        "-XX:CompileCommand=quiet",
        "-XX:CompileCommand=dontinline,*Commands.*(Lio/varve/server/command/CommandContext;)V",
        "-Dio.netty.leakDetection.level=disabled",
        "-Djmh.executor=CUSTOM",
        "-Djmh.executor.class=io.varve.server.net.EventLoopThreads"})
public class CommandBenchmark {
    private static final int LONG_PIPELINE = 64;
    private static final int PIPELINE = 16;
    /**
     * Requests are encoded once and sent repeatedly: enough of them that their keys do not stay in a processor's cache.
     */
    private static final int REQUESTS = 1 << 19;

    private static final class SmallBulksOnly implements LargeBulks {
        @Override
        public int thresholdBytes() {
            return Integer.MAX_VALUE;
        }

        @Override
        public @Nullable ValueRun open(Earlier earlier, int longestArgument, int length) {
            return null;
        }
    }

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
    private EmbeddedChannel channel;
    /** All requests in a row; they have equal lengths, so that a batch of any size can start at any of them. */
    private ByteBuf requests;
    private int requestBytes;
    private int next;

    @Setup
    public void fill() {
        cache = Cache.open(ServerConfig.defaults().with("maxmemory", "4gb").with("mrc-tracking", mrcTracking)
                .with("penalty-tracking", penaltyTracking).cacheConfig());
        ServerState server = new ServerState(cache, ServerConfig.defaults(), cache.config().ticker(), _ -> {});
        CommandTable table = CommandFamilies.table(server);
        channel = new EmbeddedChannel();
        ConnectionBuffers buffers = new ConnectionBuffers(ByteBufAllocator.DEFAULT, cache, server.argumentMemory());
        channel.config().setAllocator(buffers);
        channel.pipeline().addLast(new ConnectionHandler(server, new Workers(server, table, buffers),
                new SmallBulksOnly(), buffers, channel, null));
        channel.pipeline().fireChannelActive();
        String value = "x".repeat(valueBytes);
        for (int key = 0; key < keys; key++) {
            String name = key(key);
            send(command == Command.HGET
                    ? words("HSET", "hash:" + name, "field1", value, "field2", value, "field3", value)
                    : command == Command.SET_EX ? words("SET", name, value, "EX", "60") : words("SET", name, value));
        }
        SplittableRandom random = new SplittableRandom(42);
        requestBytes = command.request(key(0), value).length();
        requests = Unpooled.directBuffer(REQUESTS * requestBytes);
        for (int i = 0; i < REQUESTS; i++) {
            requests.writeCharSequence(command.request(key(random.nextInt(keys)), value), StandardCharsets.US_ASCII);
        }
        if (requests.writerIndex() != REQUESTS * requestBytes) {
            throw new IllegalStateException("The requests are not of one length");
        }
    }

    private static String key(int number) {
        return "key:%012d".formatted(number);
    }

    private static String words(String... words) {
        StringBuilder text = new StringBuilder("*").append(words.length).append("\r\n");
        for (String word : words) {
            text.append('$').append(word.length()).append("\r\n").append(word).append("\r\n");
        }
        return text.toString();
    }

    private void send(String request) {
        ByteBuf in = channel.alloc().directBuffer(request.length());
        in.writeCharSequence(request, StandardCharsets.US_ASCII);
        exchange(in);
    }

    /** @return bytes of the replies */
    private long exchange(ByteBuf in) {
        // As an event loop does; writeInbound would allocate an array for its argument.
        channel.pipeline().fireChannelRead(in);
        channel.pipeline().fireChannelReadComplete();
        channel.runPendingTasks();
        long bytes = 0;
        for (ByteBuf out = channel.readOutbound(); out != null; out = channel.readOutbound()) {
            bytes += out.readableBytes();
            if (out.readableBytes() > 0 && out.getByte(out.readerIndex()) == '-') {
                throw new IllegalStateException(out.toString(StandardCharsets.US_ASCII));
            }
            out.release();
        }
        return bytes;
    }

    @TearDown
    public void close() {
        channel.finishAndReleaseAll();
        requests.release();
        cache.close();
    }

    @Benchmark
    public long alone() {
        return send(1);
    }

    @Benchmark
    @OperationsPerInvocation(PIPELINE)
    public long pipelinedBy16() {
        return send(PIPELINE);
    }

    @Benchmark
    @OperationsPerInvocation(LONG_PIPELINE)
    public long pipelinedBy64() {
        return send(LONG_PIPELINE);
    }

    private long send(int pipeline) {
        int bytes = pipeline * requestBytes;
        ByteBuf in = channel.alloc().directBuffer(bytes);
        Memory.copy(requests.memoryAddress() + (long) next * requestBytes, in.memoryAddress(), bytes);
        in.writerIndex(bytes);
        next = next + pipeline & REQUESTS - 1;
        return exchange(in);
    }
}
