package io.varve.experiments.curve;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import io.varve.experiments.simulate.KeySource;
import io.varve.memory.locality.curve.Sampling;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compares sampled curves with exact ones, on all kinds of streams, as {@code ./varve mrc --accuracy} does on longer
 * ones. Confined to the test's thread. YCSB's generators cannot be seeded; the bounds are several times the usual
 * values.
 */
class CurveAccuracyTest {
    private static final int KEYS = 100_000;
    private static final int REQUESTS = 200_000;
    private static final long SEED = 1;
    /** A table as small, beside these keys, as the usual one beside a million. */
    private static final Sampling FEW_KEYS = new Sampling(0.01, 1, 6400);

    @Test
    void sampledCurvesAreNearTheExactOnes() throws IOException {
        PrintWriter out = new PrintWriter(System.out, true, StandardCharsets.UTF_8);
        List<CurveAccuracy.Row> rows = new ArrayList<>();
        CurveAccuracy.printHeader(out);
        for (KeySource source : CurveAccuracy.streams(KEYS, REQUESTS)) {
            rows.add(CurveAccuracy.measure(source, FEW_KEYS, SEED, (_, _, _, _) -> {}));
            CurveAccuracy.printRow(rows.getLast(), out);
        }
        CurveAccuracy.printSummary(rows, out);
        assertThat(rows).hasSizeGreaterThanOrEqualTo(8).allSatisfy(row -> assertThat(row.isAccurate()).isTrue());
        assertThat(CurveAccuracy.areAccurate(rows)).isTrue();
        assertThat(CurveAccuracy.csv(rows)).hasSize(1 + rows.size())
                .allSatisfy(line -> assertThat(line.replaceAll("\"[^\"]*\"", "").split(",", -1)).hasSize(18));
        CurveAccuracy.Row hot = rows.stream().filter(row -> row.stream().contains("60 % to 20 keys")).findAny()
                .orElseThrow();
        assertThat(hot.plain().mean()).as("what a sample of keys misses, or overrates").isGreaterThan(3);
        // One in a hundred of so few requests is 2,000 samples.
        assertThat(hot.percent().mean()).isLessThan(5);
    }
}
