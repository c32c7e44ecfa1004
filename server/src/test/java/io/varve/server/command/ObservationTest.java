package io.varve.server.command;

import java.nio.charset.StandardCharsets;
import java.util.List;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.varve.memory.item.ValueRun;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.batch.Batch;
import io.varve.server.command.introspection.DiagnosticCommands;
import io.varve.server.config.ServerConfig;
import io.varve.server.resp.ReplyWriter;
import io.varve.server.resp.RequestHeapBudget;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** SLOWLOG and LATENCY with the replies of Redis. Confined to the test's thread. */
class ObservationTest {
    private final CommandHarness harness = new CommandHarness(ServerConfig.defaults().with("maxmemory", "64mb")
            .with("shards", "4").with("slowlog-log-slower-than", "0"));

    @AfterEach
    void close() {
        harness.close();
    }

    /** The arguments of the latest slow command, which is the one before SLOWLOG. */
    private String arguments() {
        String reply = harness.run("slowlog", "get", "1");
        return reply.lines().filter(line -> !line.matches("[*:$].*")).reduce((a, b) -> a + " " + b).orElse("");
    }

    @Test
    void anEntryIsAsRedisHasIt() {
        harness.run("client", "setname", "me");
        harness.run("slowlog", "reset");
        harness.run("set", "k", "v");
        String set = "*6 :2 :1750000000 :0 *3 $3 set $1 k $1 v $11 127.0.0.1:1 $2 me";
        String reset = "*6 :1 :1750000000 :0 *2 $7 slowlog $5 reset $11 127.0.0.1:1 $2 me";
        assertThat(harness.run("slowlog", "get").replace("\r\n", " ").strip()).isEqualTo("*2 " + set + " " + reset);
    }

    @Test
    void longCommandsAreCut() {
        String[] many = new String[81];
        for (int i = 0; i < many.length; i++) {
            many[i] = i == 0 ? "mset" : Integer.toString(i);
        }
        harness.run(many);
        assertThat(arguments()).startsWith("mset 1 2 ").contains(" 30 ... (50 more arguments) ")
                .doesNotContain(" 31 ");
        harness.run("set", "k", "x".repeat(128));
        assertThat(arguments()).contains("x".repeat(128)).doesNotContain("more bytes");
        harness.run("set", "k", "x".repeat(200));
        assertThat(arguments()).contains(" " + "x".repeat(128) + "... (72 more bytes)");
    }

    @ParameterizedTest
    @CsvSource({"auth secret,auth (redacted)", "auth default secret,auth (redacted) (redacted)",
            "AUTH a secret c,AUTH (redacted) (redacted) (redacted)",
            "hello 3 auth default secret setname me,hello 3 auth (redacted) (redacted) setname me",
            "HELLO 2 SETNAME me AUTH default secret,HELLO 2 SETNAME me AUTH (redacted) (redacted)",
            "config set requirepass secret,config set requirepass (redacted)",
            "CONFIG SET maxmemory 0 MasterAuth secret,CONFIG SET maxmemory 0 MasterAuth (redacted)",
            "config set tls-key-file-pass secret requirepass secret,"
                    + "config set tls-key-file-pass (redacted) requirepass (redacted)",
            "config set maxmemory-policy secret,config set maxmemory-policy secret"})
    void secretsAreNotKept(String command, String shown) {
        harness.run(command);
        harness.run("hello", "2", "auth", "default", "secret");
        assertThat(harness.run("slowlog", "get", "2").lines().filter(line -> !line.matches("[*:$].*"))
                .reduce((a, b) -> a + " " + b).orElse("")).contains(" " + shown + " 127.0.0.1:1");
    }

    @Test
    void errorsAreThoseOfRedis() {
        String count = "-ERR count should be greater than or equal to -1\r\n";
        assertThat(harness.run("slowlog", "get", "-2")).isEqualTo(count);
        assertThat(harness.run("slowlog", "get", "abc")).isEqualTo(count);
        assertThat(harness.run("slowlog", "GET", "1", "2")).isEqualTo(
                "-ERR unknown subcommand or wrong number of arguments for 'GET'. Try SLOWLOG HELP.\r\n");
        assertThat(harness.run("slowlog", "len", "x"))
                .isEqualTo("-ERR wrong number of arguments for 'slowlog|len' command\r\n");
        assertThat(harness.run("slowlog", "get", "0")).isEqualTo("*0\r\n");
    }

    @Test
    void theLogKeepsItsConfiguredLength() {
        harness.run("config", "set", "slowlog-max-len", "2");
        for (int i = 0; i < 5; i++) {
            harness.run("ping");
        }
        assertThat(harness.run("slowlog", "len")).isEqualTo(":2\r\n");
        harness.run("config", "set", "slowlog-log-slower-than", "-1");
        harness.run("slowlog", "reset");
        harness.run("ping");
        assertThat(harness.run("slowlog", "len")).isEqualTo(":0\r\n");
    }

    /** Another client may have deleted the key, and its memory may be freed, before the log reads the arguments. */
    @Test
    void aTakenRunIsNotReadAgain() {
        int length = 1 << 17;
        ValueRun run = java.util.Objects.requireNonNull(harness.cache().newRun(100, length));
        for (int i = 0; i < length; i++) {
            Memory.putByte(run.address() + i, (byte) 'x');
        }
        Batch batch = new Batch();
        batch.beginRequest(1);
        batch.runArgument(run);
        batch.endRequest(io.varve.server.resp.Shortage.NONE);
        ValueRun taken = java.util.Objects.requireNonNull(batch.takeRun(0, 0));
        for (int i = 0; i < length; i++) {
            Memory.putByte(taken.address() + i, (byte) 'y');
        }
        assertThat(new String(batch.argumentBytes(0, 0, 128), StandardCharsets.US_ASCII)).isEqualTo("x".repeat(128));
        taken.release();
        batch.clear();
    }

    // --- LATENCY

    /** The reply of a real Redis 7.0.15 about commands of these durations. */
    @Test
    void theHistogramHasRedisBounds() {
        assertThat(distribution(254, 10_150, 100_938, 600_123, 1_000_000))
                .isEqualTo("*4 $5 calls :5 $14 histogram_usec *8 :264 :1 :16908 :2 :135266 :3 :1073741 :5");
        assertThat(distribution(1, 2, 3, 30, 60)).endsWith(" *10 :1 :1 :2 :2 :4 :3 :33 :4 :66 :5");
    }

    private static String distribution(long... micros) {
        Histogram histogram = new Histogram(1, 1_000_000_000L, 2);
        for (long each : micros) {
            histogram.recordValue(each * 1000);
        }
        ReplyWriter reply = new ReplyWriter(UnpooledByteBufAllocator.DEFAULT, RequestHeapBudget.ofHeapBeside(0));
        DiagnosticCommands.distribution(reply, histogram);
        StringBuilder text = new StringBuilder();
        List<ByteBuf> pieces = new java.util.ArrayList<>();
        reply.take(pieces::add);
        for (ByteBuf piece : pieces) {
            text.append(piece.toString(StandardCharsets.US_ASCII));
            piece.release();
        }
        reply.close();
        return text.toString().replace("\r\n", " ").strip();
    }

    @Test
    void eventsWithoutSamplesReturnAnErrorOrNothing() {
        assertThat(harness.run("latency", "graph", "COMMAND"))
                .isEqualTo("-ERR No samples available for event 'COMMAND'\r\n");
        assertThat(harness.run("latency", "history", "command")).isEqualTo("*0\r\n");
        assertThat(harness.run("latency", "latest")).isEqualTo("*0\r\n");
        assertThat(harness.run("latency", "reset", "a", "b")).isEqualTo(":0\r\n");
        assertThat(harness.run("latency", "doctor")).contains("latency-monitor-threshold");
    }
}
