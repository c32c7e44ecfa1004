package io.varve.experiments;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static io.varve.experiments.CommandOutput.run;
import static org.assertj.core.api.Assertions.assertThat;

/** Tests the output and the files of {@code simulate}. Confined to the test's thread. */
class SimulateCommandTest {
    @TempDir
    Path folder;

    /** Ten keys in turn: with nine places LRU never hits, and whoever does not know the order does. */
    @Test
    void aTraceIsReplayedForEachPolicyAndSize() throws IOException {
        Path trace = Files.writeString(folder.resolve("loop.txt"),
                IntStream.range(0, 10_000).mapToObj(i -> "k" + i % 10).collect(Collectors.joining("\n")));
        Path csv = folder.resolve("figures.csv");
        CommandOutput answer = run("simulate", trace.toString(), "--policy", "lru,random,none", "--size", "9,10,50%",
                "--warmup", "100",
                "--csv=" + csv);
        assertThat(answer.status()).isZero();
        assertThat(answer.out()).contains("loop.txt").contains("random").contains("0.00").contains("100.00");
        List<String> lines = Files.readAllLines(csv);
        assertThat(lines).hasSize(1 + 9);
        assertThat(lines.get(1)).startsWith("lru,9,9900,0,0.000000,").contains(",9900,");
        assertThat(lines.get(4)).startsWith("lru,10,9900,9900,1.000000,");
        assertThat(lines.get(6)).startsWith("none,10,9900,0,");
        assertThat(lines.get(7)).startsWith("lru,5,9900,0,");
        long hits = Long.parseLong(lines.get(2).split(",")[3]);
        assertThat(hits).isBetween(5000L, 9900L);
    }

    @Test
    void csv_withoutFile_isAllOfStandardOutput() throws IOException {
        Path trace = Files.writeString(folder.resolve("three.txt"), "a\nb\nc\na");
        // The trace behind the option is no file to write.
        CommandOutput answer = run("simulate", "--policy", "lru", "--size", "2", "--csv", trace.toString());
        assertThat(answer.err()).isEmpty();
        assertThat(answer.out().lines()).hasSize(2);
        assertThat(answer.out()).startsWith(
                "policy,size,requests,hits,hit_ratio,keys_traversed_per_eviction,policy_bytes");
        assertThat(answer.out().lines().toList().get(1)).startsWith("lru,2,4,0,0.000000,");
        assertThat(Files.readString(trace)).isEqualTo("a\nb\nc\na");
    }

    @Test
    void csv_toAFolder_isStatus2() {
        CommandOutput answer = run("simulate", "--keys", "100", "--requests", "100", "--policy", "lru", "--size", "10",
                "--csv=" + folder);
        assertThat(answer.status()).isEqualTo(2);
        assertThat(answer.err()).contains("--csv=" + folder).hasLineCount(1);
    }

    @Test
    void withoutATraceYcsbIsTheSource() {
        CommandOutput answer = run("simulate", "--keys", "2000", "--requests", "20000", "--policy", "tbf,lru", "--size",
                "10%");
        assertThat(answer.status()).isZero();
        assertThat(answer.out()).contains("YCSB zipfian, 2,000 keys").contains("tbf").contains("200  lru");
    }

    @ParameterizedTest
    @ValueSource(strings = {"--policy mru", "--size none", "--size 0", "--size 0.001%", "--format tar x",
            "--ycsb hotspot",
            "no-such-file"})
    void badInputIsStatus2AndOneLine(String arguments) {
        CommandOutput answer = run(("simulate --keys 100 --requests 100 " + arguments).split(" "));
        assertThat(answer.err()).startsWith("varve: simulate: ").hasLineCount(1);
        assertThat(answer.status()).isEqualTo(2);
    }
}
