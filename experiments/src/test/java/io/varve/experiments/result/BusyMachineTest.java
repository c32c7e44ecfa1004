package io.varve.experiments.result;

import java.util.List;
import java.util.Map;

import io.varve.experiments.plan.RunSpec;
import io.varve.experiments.result.RunRecord.Check;
import io.varve.experiments.result.RunRecord.Outcome;
import io.varve.experiments.result.table.Summary;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** A run on a busy machine says so beside its verdict. Confined to the test's thread. */
final class BusyMachineTest {
    private static RunRecord run(String configuration, Map<String, Double> measured, Check... checks) {
        return new RunRecord(new RunSpec("a", "quick", List.of(3), 4, configuration), configuration, Outcome.OK,
                List.of(), "", "e", "quick", "", 1, "", "", Map.of(), Map.of(), Map.of(), List.of(), measured,
                List.of(checks), List.of());
    }

    @Test
    void reasons_idleMachine_areEmpty() {
        assertThat(BusyMachine.reasons(run("Varve", Map.of(BusyMachine.LOAD_AT_START, 0.4, BusyMachine.OTHERS, 3.0,
                BusyMachine.STOLEN, 0.2)))).isEmpty();
        assertThat(BusyMachine.reasons(run("Varve", Map.of()))).as("unknown").isEmpty();
        assertThat(BusyMachine.warning(List.of(run("Varve", Map.of())))).isEmpty();
    }

    @Test
    void reasons_busyMachine_nameValueAndBound() {
        assertThat(BusyMachine.reasons(run("Varve", Map.of(BusyMachine.LOAD_AT_START, 1.84, BusyMachine.OTHERS, 34.4,
                BusyMachine.STOLEN, 5.0)))).containsExactly("the load at the start was 1.8 per core (bound: 0.5)",
                        "other processes used 34 % of the CPU time (bound: 10 %)",
                        "the hypervisor withheld 5.0 % of the CPU time (bound: 2 %)");
    }

    @Test
    void summary_busyMachine_saysSoBesideTheChecks() {
        RunRecord busy = run("Varve", Map.of(BusyMachine.STOLEN, 5.0), Check.atMost("DBSIZE", 3, 0));
        List<RunRecord> runs = List.of(busy, run("Redis", Map.of()));
        assertThat(new Summary("e", "quick", "", runs, List.of(), List.of()).table())
                .contains("NOT HELD DBSIZE: 3 (at most 0)\n    BUSY     the hypervisor withheld 5.0 %");
        assertThat(BusyMachine.warning(runs).orElseThrow()).contains("1 of 2 runs");
    }
}
