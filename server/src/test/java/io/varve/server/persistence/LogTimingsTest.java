package io.varve.server.persistence;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests which durations the latency monitor and INFO get. Confined to the test's thread. */
class LogTimingsTest {
    @Test
    void durationsAreCounted_andPassedOnUnderRedissNames() {
        LogTimings timings = new LogTimings();
        List<String> heard = new ArrayList<>();
        timings.listener((event, nanos) -> heard.add(event + " " + nanos));
        timings.wrote(5);
        timings.forced(7, true);
        timings.forced(2_000_000_000L, false);
        assertThat(heard).containsExactly("aof-write 5", "aof-fsync-always 7");
        assertThat(timings.forces()).isEqualTo(2);
        assertThat(timings.forceNanos()).isEqualTo(2_000_000_007L);
        assertThat(timings.delayedForces()).isEqualTo(1);
    }
}
