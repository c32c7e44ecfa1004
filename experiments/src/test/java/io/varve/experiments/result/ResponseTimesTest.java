package io.varve.experiments.result;

import java.util.List;

import io.varve.experiments.result.ResponseTimes.Mean;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** YCSB's status lines, with means that were computed by hand. Confined to the test's thread. */
final class ResponseTimesTest {
    /** As YCSB 0.17.0 prints it, but for the numbers. */
    private static final String LINE = "2026-11-23 11:31:36:134 41 sec: 60000 operations; 2171.8 current ops/sec; "
            + "est completion in 2 second [READ: Count=1000, Max=27487, Min=51, Avg=500, 90=2515, 99=6475, 99.9=25231, 99.99=27487] "
            + "[SIMULATED-DELAY-REMOTE: Count=865, Max=7511, Min=1000, Avg=1074.35, 90=1073, 99=3409, 99.9=7511, 99.99=7511] "
            + "[MISS-PENALTY-REMOTE: Count=150, Max=24319, Min=1084, Avg=1758.19, 90=3315, 99=5655, 99.9=24319, 99.99=24319] "
            + "[SIMULATED-DELAY-LOCAL: Count=0, Max=0, Min=0, Avg=0, 90=0, 99=0, 99.9=0, 99.99=0] "
            + "[CLEANUP: Count=3, Max=35839, Min=1067, Avg=14908.33, 90=35839, 99=35839, 99.9=35839, 99.99=35839] "
            + "[READ-MODIFY-WRITE: Count=500, Max=99, Min=1, Avg=9999, 90=9, 99=9, 99.9=9, 99.99=9] "
            + "[UPDATE: Count=2000, Max=99, Min=1, Avg=700.5, 90=9, 99=9, 99.9=9, 99.99=9] "
            + "[UPDATE-FAILED: Count=1000, Max=99, Min=1, Avg=699, 90=9, 99=9, 99.9=9, 99.99=9] "
            + "[MISS-PENALTY: Count=250, Max=24319, Min=216, Avg=1200.5, 90=9, 99=9, 99.9=9, 99.99=9]";

    @Test
    void aStatusLineIsReadsWritesMissesAndDelays() {
        ResponseTimes reported = ResponseTimes.of(LINE).orElseThrow();
        assertThat(reported.seconds()).isEqualTo(41);
        assertThat(reported.operations()).isEqualTo(60000);
        assertThat(reported.reads()).isEqualTo(new Mean(1000, 500));
        // (1000 x 500 + 2000 x 700.5 + 1000 x 699) / 4000; a read-modify-write is in its read and its update
        assertThat(reported.calls().count()).isEqualTo(4000);
        assertThat(reported.calls().micros()).isCloseTo(650, Offset.offset(1e-9));
        assertThat(reported.misses()).isEqualTo(new Mean(250, 1200.5));
        assertThat(reported.missRatio()).isEqualTo(0.25);
        assertThat(reported.remote()).isEqualTo(new Mean(865, 1074.35));
        assertThat(reported.local()).isEqualTo(Mean.NONE);
        assertThat(reported.csv())
                .isEqualTo("41,60000,4000,650.00,1000,500.00,250,1200.50,0,0.00,865,1074.35");
        assertThat(ResponseTimes.parse(reported.csv()).csv()).isEqualTo(reported.csv());
        assertThat(reported.csv().split(",", -1)).hasSameSizeAs(ResponseTimes.CSV_HEADER.split(",", -1));
    }

    @Test
    void otherLinesAreNone() {
        assertThat(ResponseTimes.of("[READ], AverageLatency(us), 1090.5")).isEmpty();
        assertThat(ResponseTimes.of("2026-11-23 11:31:36:312 41 sec: 60000 operations; 0 current ops/sec; "
                + "[READ: Count=0, Max=0, Min=0, Avg=0, 90=0, 99=0, 99.9=0, 99.99=0]")).isEmpty();
        assertThatThrownBy(() -> ResponseTimes.parse("1,2,3")).hasMessageContaining("3 cells");
    }

    @Test
    void halvesAreOfTheOperationsAndMeansAreWeighed() {
        List<ResponseTimes> run = List.of(interval(1, 100, 100, 900), interval(2, 400, 300, 500),
                interval(3, 700, 300, 200), interval(4, 1000, 300, 100));
        // Their middles are at 5, 25, 55 and 85 %.
        assertThat(ResponseTimes.between(run, 0.5, 1)).extracting(ResponseTimes::seconds).containsExactly(3L, 4L);
        assertThat(ResponseTimes.between(run, 0, 0.5)).extracting(ResponseTimes::seconds).containsExactly(1L, 2L);
        assertThat(ResponseTimes.calls(ResponseTimes.between(run, 0.5, 1))).isEqualTo(new Mean(600, 150));
        // (100 x 900 + 300 x 500) / 400
        assertThat(ResponseTimes.calls(ResponseTimes.between(run, 0, 0.5))).isEqualTo(new Mean(400, 600));
        assertThat(ResponseTimes.between(List.of(), 0, 1)).isEmpty();
    }

    private static ResponseTimes interval(long second, long operations, long calls, double micros) {
        Mean mean = new Mean(calls, micros);
        return new ResponseTimes(second, operations, mean, mean, Mean.NONE, Mean.NONE, Mean.NONE);
    }

    @Test
    void missRatio_readReportedLater_isAtMostOne() {
        Mean two = new Mean(2, 1000);
        assertThat(new ResponseTimes(1, 2, two, two, new Mean(13, 900), Mean.NONE, Mean.NONE).missRatio()).isOne();
    }
}
