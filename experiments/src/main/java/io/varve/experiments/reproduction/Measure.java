package io.varve.experiments.reproduction;

import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;

import io.varve.experiments.definition.InvalidExperimentException;
import io.varve.experiments.plan.RunSpec;
import io.varve.experiments.result.Comparison;
import io.varve.experiments.result.RunRecord;
import io.varve.experiments.result.RunRecord.Outcome;
import io.varve.experiments.result.table.Summary;
import org.jspecify.annotations.Nullable;

/**
 * A number from the records of an experiment's complete runs. Immutable.
 *
 * @param metric the name of the measured number; with {@code against}, that of a comparison, such as mean-memory
 * @param workload only runs of this workload; null for all, as with the next ones; {@code *} stands for any characters
 * @param configuration only runs of this configuration, written likewise
 * @param group only runs of this group of configurations
 * @param threads only runs with this number of client threads
 * @param ttls only runs with this number of TTLs
 * @param against the baseline with which the runs are compared; null for the runs' own numbers
 * @param of the mean, the least or the greatest of the runs' numbers; the mean if absent
 * @param over the number by which it is divided, from the runs of the same workloads, sizes, TTLs and threads; null for
 *     none
 */
public record Measure(String metric, @Nullable String workload, @Nullable String configuration,
        @Nullable String group, @Nullable Integer threads, @Nullable Integer ttls, @Nullable String against,
        @Nullable Of of, @Nullable Measure over) {

    /** How the numbers of several runs become one. */
    public enum Of {
        MEAN, MIN, MAX
    }

    /** The number; NaN if no run has it. Only cells that have both numbers of a ratio count. */
    double of(Summary summary, Selection selection) {
        List<CellNumber> own = numbers(summary, selection);
        if (over == null) {
            return combined(own);
        }
        List<CellNumber> others = over.numbers(summary, selection);
        return combined(inCellsOf(others, own)) / over.combined(inCellsOf(own, others));
    }

    private static List<CellNumber> inCellsOf(List<CellNumber> cells, List<CellNumber> numbers) {
        Set<String> wanted = cells.stream().map(CellNumber::cell).collect(Collectors.toSet());
        return numbers.stream().filter(each -> wanted.contains(each.cell())).toList();
    }

    private List<CellNumber> numbers(Summary summary, Selection selection) {
        Stream<CellNumber> numbers = against == null
                ? summary.runs().stream().filter(run -> run.outcome() == Outcome.OK && isOf(run.run(), run.group(),
                        selection)).map(run -> new CellNumber(run.run().cell(), number(run)))
                : summary.comparisons().stream().filter(each -> each.baseline().equals(against)
                        && isOf(each.run(), each.group(), selection))
                        .map(each -> new CellNumber(each.run().cell(), number(each)));
        return numbers.filter(each -> Double.isFinite(each.value())).toList();
    }

    /**
     * A measured number. Immutable.
     *
     * @param cell what the run has in common with those of other configurations
     * @param value the number, finite
     */
    private record CellNumber(String cell, double value) {}

    private double number(RunRecord run) {
        return run.number(metric);
    }

    private double number(Comparison comparison) {
        try {
            return comparison.metric(metric);
        } catch (IllegalArgumentException unknown) {
            throw new InvalidExperimentException("reproduction.yaml: " + unknown.getMessage(), unknown);
        }
    }

    /** Whether it takes a number from such a run. */
    boolean isOf(RunSpec run, String itsGroup, Selection selection) {
        return selection.has(run) && isLike(workload, withoutScale(run.workload()))
                && isLike(configuration, run.configuration())
                && is(group, itsGroup) && is(threads, run.threads()) && is(ttls, run.ttls().size());
    }

    private static boolean isLike(@Nullable String pattern, String name) {
        return pattern == null || name.matches(Pattern.quote(pattern).replace("*", "\\E.*\\Q"));
    }

    /** A workload's name without the scale for which it is made: {@code a} for {@code a-small}. */
    static String withoutScale(String workload) {
        return workload.replaceAll("-(quick|small|20M|200M)$", "");
    }

    private static <T> boolean is(@Nullable T wanted, T actual) {
        return wanted == null || wanted.equals(actual);
    }

    private double combined(List<CellNumber> numbers) {
        DoubleStream values = numbers.stream().mapToDouble(CellNumber::value);
        return (switch (of == null ? Of.MEAN : of) {
            case MEAN -> values.average();
            case MIN -> values.min();
            case MAX -> values.max();
        }).orElse(Double.NaN);
    }
}
