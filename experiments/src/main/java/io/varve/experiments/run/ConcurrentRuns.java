package io.varve.experiments.run;

import java.util.Locale;
import java.util.Optional;

import io.varve.experiments.definition.Experiment.Kind;
import io.varve.experiments.definition.InvalidExperimentException;
import io.varve.experiments.plan.Plan;
import io.varve.experiments.server.Pinning;

/** Decides how many runs of a plan execute at a time. Stateless. */
public final class ConcurrentRuns {
    private ConcurrentRuns() {}

    /**
     * The number of concurrent runs.
     *
     * @param requested by the user; 0 is as many as the cores allow
     * @throws InvalidExperimentException if several are requested of a plan whose runs must be alone
     */
    public static int count(Plan plan, int requested, int cores) {
        Optional<String> why = aloneBecause(plan);
        if (requested > 1 && why.isPresent()) {
            throw new InvalidExperimentException("--at-once " + requested + ": expected 1, because " + why.get());
        }
        return why.isPresent() ? 1 : requested > 0 ? requested : Pinning.atOnce(cores);
    }

    /** How many times faster concurrent runs end together: a server and its load take a core each. */
    public static int speedup(int atOnce, int cores) {
        return Math.clamp(cores / 2, 1, Math.max(1, atOnce));
    }

    /** Whether the runs of the plan must follow one another. */
    public static boolean mustBeAlone(Plan plan) {
        return aloneBecause(plan).isPresent();
    }

    /** Why a run of the plan needs the machine for itself; empty if it does not. */
    private static Optional<String> aloneBecause(Plan plan) {
        // An embedded server uses the whole process, and another run would affect a measured throughput.
        if (plan.scale().embedded()) {
            return Optional.of("Varve runs inside the process of the experiment at scale " + plan.scaleName());
        }
        return plan.runs().stream().map(plan::kind)
                .filter(kind -> needsOneCoreEach(kind) || kind == Kind.FRAGMENTATION || kind == Kind.PENALTY)
                .findFirst().map(kind -> "a run of kind " + kind.name().toLowerCase(Locale.ROOT).replace('_', '-')
                        + " measures what another run would change");
    }

    /** Whether a run of the kind needs a core for each event loop, and as many for its load. */
    public static boolean needsOneCoreEach(Kind kind) {
        return Plan.isAlternating(kind) || Plan.comparesAll(kind) || kind == Kind.LATENCY;
    }
}
