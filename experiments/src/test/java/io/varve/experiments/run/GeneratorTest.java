package io.varve.experiments.run;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

import io.varve.experiments.definition.InvalidExperimentException;
import io.varve.experiments.run.load.SequentialLoad;
import io.varve.experiments.run.speed.DefaultTests;
import io.varve.experiments.run.speed.MeasuredCommand;
import io.varve.experiments.run.speed.RedisBenchmark;
import io.varve.experiments.run.speed.ThroughputRun;
import io.varve.experiments.wire.ServerInfo;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** redis-benchmark's output, its commands, and the load before them. Confined to the test's thread. */
final class GeneratorTest {
    private static final String HEADER = "\"test\",\"rps\",\"avg_latency_ms\",\"min_latency_ms\",\"p50_latency_ms\","
            + "\"p95_latency_ms\",\"p99_latency_ms\",\"max_latency_ms\"\n";

    @Test
    void lastRowIsTheResultForAnyTestName() throws IOException {
        assertThat(RedisBenchmark.parse(HEADER
                + "\"SET key:__rand_int__ a,b \\\"c\\\" EX 60\",\"30612.25\",\"25.960\",\"0.160\",\"8.911\",\"90.175\","
                + "\"468.991\",\"851.967\"\n")).isEqualTo(new RedisBenchmark.Result(30612.25, 8.911, 468.991));
    }

    @Test
    void invalidOutputIsReportedWithItsText() {
        assertThatThrownBy(() -> RedisBenchmark.parse(HEADER + "Error from server: ERR wrong number\n"))
                .isInstanceOf(IOException.class).hasMessageContaining("ERR wrong number");
        assertThatThrownBy(() -> RedisBenchmark.parse("\"SET\",\"1234.5\"\n")).hasMessageContaining("version 7");
        assertThatThrownBy(() -> RedisBenchmark.parse(HEADER + "\"GET\",\"x\",\"1\",\"1\",\"1\",\"1\",\"1\",\"1\"\n"))
                .hasMessageContaining("'x'");
    }

    @Test
    void parseTests_namesEachTestShortly_withoutPreparations() throws IOException {
        String rest = "\",\"1\",\"1\",\"1\",\"1\",\"1\",\"1\"\n";
        assertThat(RedisBenchmark.parseTests(HEADER + "\"PING_INLINE\",\"5.5" + rest + "\"LPUSH\",\"7" + rest
                + "\"LPUSH (needed to benchmark LRANGE)\",\"8" + rest
                + "\"LRANGE_100 (first 100 elements)\",\"9" + rest)).containsExactly(Map.entry("PING_INLINE", 5.5),
                        Map.entry("LPUSH", 7.0), Map.entry("LRANGE_100", 9.0));
        assertThatThrownBy(() -> RedisBenchmark.parseTests(HEADER)).hasMessageContaining("no result");
    }

    @Test
    void missingGenerator_isReportedWithPackages() {
        assertThatThrownBy(() -> RedisBenchmark.find("/nowhere")).isInstanceOf(InvalidExperimentException.class)
                .hasMessageContaining("redis-benchmark").hasMessageContaining("redis-tools");
    }

    @Test
    void requestsAreWholeRoundsOfAllConnections() {
        assertThat(ThroughputRun.requests(1, 50)).isEqualTo(50);
        assertThat(ThroughputRun.requests(3201, 3200)).isEqualTo(6400);
        assertThat(ThroughputRun.requests(0, 3200)).as("before a rate is known").isEqualTo(22_400);
    }

    @Test
    void hitsAreThoseOfTheTurnAlone() {
        ServerInfo before = ServerInfo.parse("keyspace_hits:100\r\nkeyspace_misses:50\r\n");
        ServerInfo after = ServerInfo.parse("keyspace_hits:199\r\nkeyspace_misses:51\r\n");
        assertThat(ThroughputRun.hitPercent(before, after)).isEqualTo(99);
        assertThat(ThroughputRun.hitPercent(after, after)).isNaN();
    }

    @Test
    void theLoadSendsTheGeneratorsCommandForEachKey() {
        SequentialLoad load = new SequentialLoad(MeasuredCommand.of("SET", 3).command());
        assertThat(new String(load.encoded(42), StandardCharsets.US_ASCII))
                .isEqualTo("*3\r\n$3\r\nSET\r\n$16\r\nkey:000000000042\r\n$3\r\nxxx\r\n");
        assertThatThrownBy(() -> new SequentialLoad(List.of("PING"))).hasMessageContaining("PING");
    }

    @Test
    void aSetAsLongAsOneWithExTakesAsManyBytes() {
        assertThat(encodedBytes("SET-AS-LONG")).isEqualTo(encodedBytes("SET-EX"));
        assertThat(encodedBytes("SET")).isLessThan(encodedBytes("SET-EX"));
    }

    private static int encodedBytes(String test) {
        return new SequentialLoad(MeasuredCommand.of(test, 16).command()).encoded(42).length;
    }

    @Test
    void theRecordOfAHashHasTenFieldsOfItsBytesTogether() {
        List<String> words = MeasuredCommand.of("HSET", 1000).command();
        assertThat(words).hasSize(2 + 2 * 10);
        assertThat(words.stream().filter(word -> word.startsWith("x")).mapToInt(String::length).sum())
                .isEqualTo(1000);
        assertThat(MeasuredCommand.of("SET-EX", 16).command()).endsWith("EX", "60");
        assertThat(MeasuredCommand.of("HGETALL", 1000).reads()).isTrue();
        assertThatThrownBy(() -> MeasuredCommand.of("LINSERT", 1)).hasMessageContaining("SET, GET");
    }

    /** As redis-benchmark sends them. */
    @Test
    void theDefaultTestsAreThoseOfRedisBenchmark() {
        assertThat(DefaultTests.names()).hasSize(16).contains("PING", "LRANGE-600", "ZPOPMIN");
        for (String name : DefaultTests.names()) {
            assertThat(MeasuredCommand.of(name, 3).command()).isNotEmpty();
        }
        assertThat(MeasuredCommand.of("ZADD", 3).command()).containsExactly("ZADD", "myzset", "__rand_int__",
                "element:__rand_int__");
        assertThat(MeasuredCommand.of("LRANGE-300", 3).command()).containsExactly("LRANGE", "mylist", "0", "299");
        assertThat(MeasuredCommand.of("MSET", 3).command()).hasSize(21).endsWith("key:__rand_int__", "xxx");
        assertThat(MeasuredCommand.of("XACK", 3).command()).containsExactly("XACK", "stream", "group",
                "1__rand_int__-0");
        assertThat(MeasuredCommand.of("EVALSHA-LOOP", 3).command()).startsWith("EVALSHA").endsWith("1",
                "unused:__rand_int__");
        assertThatThrownBy(() -> MeasuredCommand.of("LPUSHX", 3)).hasMessageContaining("'LPUSHX'")
                .hasMessageContaining("SET-EX").hasMessageContaining("LPUSH");
    }
}
