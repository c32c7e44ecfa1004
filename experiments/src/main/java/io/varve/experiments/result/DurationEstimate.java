package io.varve.experiments.result;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

import io.varve.experiments.definition.Experiment.Kind;
import io.varve.experiments.definition.Experiment.Size;
import io.varve.experiments.plan.Plan;
import io.varve.experiments.plan.RunSpec;
import io.varve.experiments.result.RunRecord.Outcome;

/**
 * Estimates how long runs take, from the durations of complete runs on a machine like this one. Immutable.
 *
 * <p>A plan's own estimate assumes rates. It is multiplied by the median of measured / assumed over the runs that are
 * most like the estimated one: equal ones, else those of its size and threads, else those of its kind.
 */
public final class DurationEstimate {
    /** Time to start and stop a server, which the phases of a run do not include. */
    private static final double OVERHEAD_SECONDS = 3;
    private static final double SECOND_MILLIS = 1e3;

    private final Plan plan;
    private final List<Known> known;

    /**
     * A complete run.
     *
     * @param run the run
     * @param kind its kind
     * @param fullSpeed whether operations, not seconds, bound its load
     * @param ratio measured / assumed duration
     */
    private record Known(RunSpec run, Kind kind, boolean fullSpeed, double ratio) {}

    /** @param records runs of this experiment or of others, of which the useful ones are chosen */
    public DurationEstimate(Plan plan, List<RunRecord> records) {
        this.plan = plan;
        Map<String, String> here = Machine.describe();
        List<Known> usable = new ArrayList<>();
        for (RunRecord record : records) {
            if (isUsable(plan, record, here)) {
                usable.add(known(plan, record));
            }
        }
        this.known = List.copyOf(usable);
    }

    private DurationEstimate(Plan plan, List<Known> known, Known another) {
        this.plan = plan;
        List<Known> all = new ArrayList<>(known);
        all.add(another);
        this.known = List.copyOf(all);
    }

    /** The estimate that also considers that run. */
    public DurationEstimate with(RunRecord record) {
        return isUsable(plan, record, Machine.describe())
                ? new DurationEstimate(plan, known, known(plan, record))
                : this;
    }

    private static Known known(Plan plan, RunRecord record) {
        return new Known(record.run(), plan.kind(record.run()), isFullSpeed(plan, record.run()),
                seconds(record) / Math.max(1, plan.estimateSeconds(record.run())));
    }

    private static boolean isFullSpeed(Plan plan, RunSpec run) {
        return plan.size(run).seconds() == 0;
    }

    /** Whether a record is of a complete run of this experiment, as it is defined now, on a machine like this one. */
    private static boolean isUsable(Plan plan, RunRecord record, Map<String, String> here) {
        Size size = plan.experiment().sizes().get(record.run().size());
        if (record.outcome() != Outcome.OK || !record.experiment().equals(plan.experiment().name()) || size == null
                || !plan.experiment().workloads().containsKey(record.run().workload()) || !(seconds(record) > 0)) {
            return false;
        }
        String operations = record.load().get("operationcount");
        return (operations == null || operations.equals(String.valueOf(size.operationCount())))
                && List.of("cpu", "cores").stream()
                        .allMatch(name -> here.getOrDefault(name, "").equals(record.machine().getOrDefault(name, "")));
    }

    /** The measured duration of a run; NaN if it is unknown. */
    static double seconds(RunRecord record) {
        double whole = record.number(RunMetrics.RUN_SECONDS);
        return Double.isNaN(whole) && !record.phases().isEmpty()
                ? record.phases().getLast().endMillis() / SECOND_MILLIS + OVERHEAD_SECONDS
                : whole;
    }

    /** Approximate duration of a run, in seconds. */
    public long seconds(RunSpec run) {
        return Math.max(1, Math.round(plan.estimateSeconds(run) * ratio(run)));
    }

    /**
     * Approximate duration of the given runs, in seconds.
     *
     * @param speedup how many times faster concurrent runs end than one after the other
     */
    public long seconds(List<RunSpec> runs, int speedup) {
        return runs.stream().mapToLong(this::seconds).sum() / Math.max(1, speedup);
    }

    private double ratio(RunSpec run) {
        Kind kind = plan.kind(run);
        boolean fullSpeed = isFullSpeed(plan, run);
        Predicate<Known> ofSize = each -> each.run().size().equals(run.size()) && each.run().threads() == run.threads()
                && each.kind() == kind;
        Predicate<Known> ofKind = each -> each.kind() == kind && each.fullSpeed() == fullSpeed;
        List<Predicate<Known>> likeness = List.of(each -> each.run().equals(run),
                ofSize.and(each -> each.run().workload().equals(run.workload())), ofSize,
                ofKind.and(each -> each.run().threads() == run.threads()), ofKind);
        for (Predicate<Known> like : likeness) {
            List<Double> ratios = known.stream().filter(like).map(Known::ratio).toList();
            if (!ratios.isEmpty()) {
                return MedianRange.of(ratios).median();
            }
        }
        return 1;
    }

    /** How the estimate is founded, for a line of text: empty if it only assumes rates. */
    public String basis() {
        return known.isEmpty()
                ? ""
                : " (from the durations of " + known.size() + (known.size() == 1 ? " run)" : " runs)");
    }
}
