package io.varve.experiments.result;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Judges whether other work on the machine may have distorted a run. Stateless.
 *
 * <p>The judgment does not change the verdict of a check: it is shown beside it.
 */
public final class BusyMachine {
    /** In a run's numbers: the load average by core when the experiment started. */
    public static final String LOAD_AT_START = "machine_load_per_core_at_start";
    /** In a run's numbers: CPU time of processes that the experiment did not start, % of all cores' time. */
    public static final String OTHERS = "machine_other_cpu_percent";
    /** In a run's numbers: CPU time that the hypervisor gave to other machines, % of all cores' time. */
    public static final String STOLEN = "machine_stolen_cpu_percent";

    /** The bound of {@link #LOAD_AT_START}. */
    public static final double LOAD_LIMIT = 0.5;
    /** The bound of {@link #OTHERS}. */
    public static final double OTHERS_LIMIT = 10;
    /** The bound of {@link #STOLEN}. */
    public static final double STOLEN_LIMIT = 2;

    private BusyMachine() {}

    /** The reasons why the machine counts as busy during the run; empty if it does not. */
    public static List<String> reasons(RunRecord run) {
        List<String> reasons = new ArrayList<>();
        double load = run.number(LOAD_AT_START);
        if (isBusyAtStart(load)) {
            reasons.add(ofLoad(load));
        }
        double others = run.number(OTHERS);
        if (others > OTHERS_LIMIT) {
            reasons.add(String.format(Locale.ROOT, "other processes used %.0f %% of the CPU time (bound: %.0f %%)",
                    others, OTHERS_LIMIT));
        }
        double stolen = run.number(STOLEN);
        if (stolen > STOLEN_LIMIT) {
            reasons.add(String.format(Locale.ROOT, "the hypervisor withheld %.1f %% of the CPU time (bound: %.0f %%)",
                    stolen, STOLEN_LIMIT));
        }
        return List.copyOf(reasons);
    }

    /** Whether the load average by core is too high to start an experiment. */
    public static boolean isBusyAtStart(double loadPerCore) {
        return loadPerCore > LOAD_LIMIT;
    }

    /** The reason for a load average by core that is too high. */
    public static String ofLoad(double loadPerCore) {
        return String.format(Locale.ROOT, "the load at the start was %.1f per core (bound: %.1f)", loadPerCore,
                LOAD_LIMIT);
    }

    /** A sentence about all runs on a busy machine; empty if there was none. */
    public static Optional<String> warning(List<RunRecord> runs) {
        List<RunRecord> busy = runs.stream().filter(run -> !reasons(run).isEmpty()).toList();
        return busy.isEmpty()
                ? Optional.empty()
                : Optional.of("The machine was busy during " + busy.size() + " of " + runs.size()
                        + " runs, so their results and verdicts may be wrong. Repeat them on an idle machine.");
    }
}
