package io.varve.experiments.run.replication;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;

import io.varve.experiments.plan.ReplicationLoad;
import io.varve.experiments.plan.ReplicationLoad.Pair;
import io.varve.experiments.result.RunMetrics;
import io.varve.experiments.result.RunRecord.Check;
import io.varve.experiments.result.table.ReplicationText;

/** The checks of the experiment on replication. Stateless. */
final class ReplicationChecks {
    /** The share of the rate that the writers have to reach: with fewer writes it is easier to catch up. */
    private static final double REACHED = 0.95;

    private ReplicationChecks() {}

    /** The checks of a pair's full synchronizations and of how its replica caught up. */
    static List<Check> of(Pair pair, ReplicationLoad load, RunMetrics metrics) {
        String name = pair.name();
        double rate = REACHED * load.catchUpRate();
        List<Check> checks = new ArrayList<>();
        atMost(checks, name + ": errors during a full synchronization",
                metrics.greatest(ReplicationText.name(ReplicationText.ERRORS, name)), 0);
        atLeast(checks, name + ": has caught up under load",
                metrics.least(ReplicationText.name(ReplicationText.CAUGHT_UP, name)), 1);
        atMost(checks, name + ": errors while the replica is stopped and catches up",
                metrics.greatest(ReplicationText.name(ReplicationText.CATCH_UP_ERRORS, name)), 0);
        atLeast(checks, name + ": writes a second while the replica is stopped",
                metrics.least(ReplicationText.name(ReplicationText.STOPPED_OPS, name)), rate);
        atLeast(checks, name + ": writes a second while it catches up",
                metrics.least(ReplicationText.name(ReplicationText.CATCH_UP_OPS, name)), rate);
        atLeast(checks, name + ": partial resynchronizations after a cut link",
                metrics.least(ReplicationText.name(ReplicationText.PARTIAL, name)), 1);
        atMost(checks, name + ": full synchronizations after a cut link",
                metrics.greatest(ReplicationText.name(ReplicationText.FULL, name)), 0);
        atMost(checks, name + ": rounds with different data",
                metrics.greatest(ReplicationText.name(ReplicationText.DIFFERENT, name)), 0);
        return checks;
    }

    /** A median of fewer rounds than the others would not show which ones are missing. */
    static Check isComplete(Pair pair, String kind, RoundResults results, int rounds) {
        return Check.atLeast(pair.name() + ": values of each number on " + kind, results.fewest(pair.name()), rounds);
    }

    private static void atMost(List<Check> checks, String what, OptionalDouble value, double limit) {
        value.ifPresent(number -> checks.add(Check.atMost(what, number, limit)));
    }

    private static void atLeast(List<Check> checks, String what, OptionalDouble value, double limit) {
        value.ifPresent(number -> checks.add(Check.atLeast(what, number, limit)));
    }
}
