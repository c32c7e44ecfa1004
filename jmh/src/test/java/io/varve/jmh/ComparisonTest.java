package io.varve.jmh;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

/** Tests {@code jmh --compare A B} on two results, and on invalid files. Confined to its thread. */
class ComparisonTest {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    @TempDir
    Path folder;

    @Test
    void aDifferenceCountsOnlyBeyondBothErrors() throws IOException {
        Path a = file("a.json", result("get", "avgt", 100, "5.0", "ns/op", "1"),
                result("put", "avgt", 100, "5.0", "ns/op", "1"), result("scan", "avgt", 100, "5.0", "ns/op", "1"));
        Path b = file("b.json", result("get", "avgt", 90, "4.9", "ns/op", "1"),
                result("put", "avgt", 111, "5.0", "ns/op", "1"), result("scan", "avgt", 109, "5.0", "ns/op", "1"));

        assertThat(run("--compare", a, b)).isZero();

        assertThat(lineOf("Some.get")).contains("keys=10", "100.000", "± 5.000", "90.000", "ns/op", "0.900")
                .endsWith("better");
        assertThat(lineOf("Some.put")).contains("1.110").endsWith("worse");
        assertThat(lineOf("Some.scan")).endsWith("within the errors");
    }

    @Test
    void moreThroughputIsBetterAndMoreAllocationIsNot() throws IOException {
        Path a = file("a.json", result("get", "thrpt", 100, "1.0", "ops/s", "1"));
        Path b = file("b.json", result("get", "thrpt", 200, "1.0", "ops/s", "9"));

        assertThat(run("--compare", a, b)).isZero();

        assertThat(lineOf("Some.get ")).contains("2.000").endsWith("better");
        assertThat(lineOf("Some.get:gc.alloc.rate.norm")).contains("B/op", "9.000").endsWith("worse");
    }

    @Test
    void withoutErrorsOrWithOtherUnitsNothingIsSaid() throws IOException {
        Path a = file("a.json", result("get", "avgt", 100, "\"NaN\"", "ns/op", "0"),
                result("put", "avgt", 100, "1.0", "ns/op", "0"));
        Path b = file("b.json", result("get", "avgt", 50, "1.0", "ns/op", "0"),
                result("put", "avgt", 0.1, "0.01", "us/op", "0"));

        assertThat(run("--compare", a, b)).isZero();

        assertThat(lineOf("Some.get ")).contains("0.500").endsWith("? (no error known)");
        assertThat(lineOf("Some.put ")).endsWith("? (other unit)");
        assertThat(lineOf("Some.get:gc")).contains(" - ").endsWith("within the errors");
    }

    @Test
    void benchmarksOfOneFileOnlyAreListed() throws IOException {
        Path a = file("a.json", result("get", "avgt", 1, "1", "ns/op", "0"),
                result("old", "avgt", 1, "1", "ns/op", "0"));
        Path b = file("b.json", result("get", "avgt", 1, "1", "ns/op", "0"),
                result("fresh", "avgt", 1, "1", "ns/op", "0"));

        assertThat(run("--compare", a, b)).isZero();

        assertThat(out.toString(UTF_8)).containsSubsequence("In A alone:", "  Some.old keys=10", "In B alone:",
                "  Some.fresh keys=10");
    }

    @Test
    void invalidResultIsRefusedWithItsName() throws IOException {
        Path good = file("good.json", result("get", "avgt", 1, "1", "ns/op", "0"));
        Path missing = folder.resolve("missing.json");
        Path broken = Files.writeString(folder.resolve("broken.json"), "[{\"benchmark\" : ");
        Path other = Files.writeString(folder.resolve("other.json"), "{\"a\":1}");
        Path partial = Files.writeString(folder.resolve("partial.json"),
                "[{\"benchmark\":\"a.B.c\",\"mode\":\"avgt\"}]");

        assertRefused(missing + ": there is no such file", "--compare", good, missing);
        assertRefused(folder + ": it is a folder", "--compare", folder, good);
        assertRefused(broken + ": it is not JSON", "--compare", good, broken);
        assertRefused(other + ": it is not a list of results", "--compare", other, good);
        assertRefused(partial + ": B.c has no score", "--compare", good, partial);
        assertRefused("takes two result files", "--compare", good);
    }

    @Test
    void theProbesOfTheIndexAddUp() throws IOException {
        assertThat(run("--probes", "20000")).isZero();

        String[] last = out.toString(UTF_8).strip().lines().reduce((_, line) -> line).orElseThrow().split("\\|");
        assertThat(last[1].strip()).isEqualTo("at the end");
        assertThat(last[2].strip()).isEqualTo("20,000");
        assertThat(share(last[5]) + share(last[6]) + share(last[7])).isBetween(99.9, 100.1);
        assertThat(share(last[5])).isGreaterThan(70);
        assertRefused("expected 1 to", "--probes", "none");
        assertRefused("expected 1 to", "--probes", "0");
    }

    private static double share(String cell) {
        return Double.parseDouble(cell.replace("%", "").strip());
    }

    private void assertRefused(String reason, Object... arguments) throws IOException {
        err.reset();
        assertThat(run(arguments)).isEqualTo(2);
        assertThat(err.toString(UTF_8)).startsWith("varve: jmh " + arguments[0]).contains(reason);
    }

    private int run(Object... arguments) throws IOException {
        out.reset();
        return Benchmarks.run(List.of(arguments).stream().map(Object::toString).toList(),
                new PrintStream(out, true, UTF_8),
                new PrintStream(err, true, UTF_8));
    }

    private String lineOf(String start) {
        return out.toString(UTF_8).lines().filter(line -> line.startsWith(start)).findFirst().orElseThrow();
    }

    private Path file(String name, String... results) throws IOException {
        return Files.writeString(folder.resolve(name), "[" + String.join(",", results) + "]");
    }

    private static String result(String method, String mode, double score, String error, String unit,
            String allocated) {
        return """
                {"benchmark":"io.varve.Some.%s","mode":"%s","threads":1,"params":{"keys":"10"},
                "primaryMetric":{"score":%s,"scoreError":%s,"scoreUnit":"%s"},
                "secondaryMetrics":{"gc.alloc.rate.norm":{"score":%s,"scoreError":0.01,"scoreUnit":"B/op"}}}"""
                .formatted(method, mode, score, error, unit, allocated);
    }
}
