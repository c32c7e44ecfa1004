package io.varve.experiments.result;

import java.util.List;

import io.varve.experiments.wire.CannedServer;
import io.varve.experiments.wire.RespValue;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Parses the replies of VARVE.CLASS LIST and VARVE.MRC, in both protocols. Confined to the test's thread, except the
 * server's.
 */
final class PenaltyClassTest {
    private static final String RESP2 = """
            *2
            *18
            $5
            class
            :0
            $5
            range
            $13
            below 10, us.
            $10
            penalty-us
            $-1
            $8
            accesses
            :0
            $5
            reads
            :0
            $6
            misses
            :0
            $5
            bytes
            :0
            $5
            share
            $1
            0
            $15
            suggested-share
            $-1
            *18
            $5
            class
            :6
            $5
            range
            $13
            630 to 1270us
            $10
            penalty-us
            $7
            1043.25
            $8
            accesses
            :5000
            $5
            reads
            :4000
            $6
            misses
            :1000
            $5
            bytes
            :1048576
            $5
            share
            $4
            0.75
            $15
            suggested-share
            $6
            0.8125
            """;
    private static final String RESP3 = RESP2.replace("*18\n", "%9\n").replace("$-1\n", "_\n")
            .replace("$7\n1043.25", ",1043.25").replace("$4\n0.75", ",0.75").replace("$1\n0\n", ",0\n")
            .replace("$6\n0.8125", ",0.8125");

    private static List<PenaltyClass> read(String reply) throws Exception {
        try (CannedServer server = new CannedServer(reply)) {
            return PenaltyClass.parse(server.classList());
        }
    }

    @Test
    void bothProtocolsHaveEqualResults() throws Exception {
        List<PenaltyClass> reported = read(RESP2);
        assertThat(reported).isEqualTo(read(RESP3));
        assertThat(reported).containsExactly(
                new PenaltyClass(0, "below 10, us.", Double.NaN, 0, 0, 0, 0, 0, Double.NaN),
                new PenaltyClass(6, "630 to 1270us", 1043.25, 5000, 4000, 1000, 1 << 20, 0.75, 0.8125));
    }

    @Test
    void missingPropertyIsNamed() throws Exception {
        assertThatThrownBy(() -> read(RESP2.replace("suggested-share", "suggestedeshare")))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("has no suggested-share");
        assertThatThrownBy(() -> read(RESP2.replace("$7\n1043.25", "$7\nquickly"))).hasMessageContaining("quickly");
        assertThatThrownBy(() -> read("+OK\n")).hasMessageContaining("expected an array");
    }

    @Test
    void rowIsReadBack() {
        PenaltyClass known = new PenaltyClass(6, "630 to 1270 us", 1043.25, 5000, 4000, 1000, 1 << 20, 0.75, 0.8125);
        assertThat(known.csv(1500, 7000))
                .isEqualTo("1500,7000,6,630 to 1270 us,1043.2500,5000,4000,1000,1048576,0.7500,0.8125");
        assertThat(PenaltyClass.At.parse(known.csv(1500, 7000)))
                .isEqualTo(new PenaltyClass.At(1500, 7000, known));
        PenaltyClass unknown = new PenaltyClass(0, "a, b", Double.NaN, 0, 0, 0, 0, 0, Double.NaN);
        assertThat(unknown.csv(0, 0)).isEqualTo("0,0,0,a; b,,0,0,0,0,0.0000,");
        assertThat(PenaltyClass.At.parse(unknown.csv(0, 0)).state().penaltyMicros()).isNaN();
        assertThat(unknown.csv(0, 0).split(",", -1)).hasSameSizeAs(PenaltyClass.CSV_HEADER.split(",", -1));
        assertThatThrownBy(() -> PenaltyClass.At.parse("1,2,3")).hasMessageContaining("3 cells");
    }

    @Test
    void aCurveIsPairs() throws Exception {
        for (String reply : List.of("*2\n*2\n:1000\n$3\n0.5\n*2\n:2000\n$4\n0.25\n",
                "*2\n*2\n:1000\n,0.5\n*2\n:2000\n,0.25\n")) {
            try (CannedServer server = new CannedServer(reply)) {
                assertThat(ClassCurve.parse(10, 20, 3, server.classList())).containsExactly(
                        new ClassCurve(10, 20, 3, 1000, 0.5), new ClassCurve(10, 20, 3, 2000, 0.25));
            }
        }
        ClassCurve point = new ClassCurve(10, 20, 3, 1000, 0.5);
        assertThat(point.csv()).isEqualTo("10,20,3,1000,0.500000");
        assertThat(ClassCurve.parse(point.csv())).isEqualTo(point);
        assertThat(ClassCurve.parse(0, 0, 0, new RespValue.Array(List.of()))).as("nothing is known yet").isEmpty();
        assertThatThrownBy(() -> ClassCurve.parse(0, 0, 0,
                new RespValue.Array(List.of(new RespValue.Array(List.of(new RespValue.Text("1")))))))
                .hasMessageContaining("a pair");
    }
}
