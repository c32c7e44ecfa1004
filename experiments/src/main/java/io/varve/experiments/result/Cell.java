package io.varve.experiments.result;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * All repetitions of one contestant at one test and pipeline. Immutable.
 *
 * @param test its name
 * @param pipeline commands that a connection sends at once
 * @param contestant the server's name
 * @param ops requests a second
 * @param cpuMicrosPerOp CPU time of the server for one operation, µs
 * @param busyPercent the server's use of one core, percent
 * @param hitPercent the least of the repetitions; null if the test reads nothing
 * @param ratio CPU per operation over that of the rival, in the same repetition; null for the rival itself, or without
 *     one
 * @param target maximum of the ratio; null if there is none
 */
public record Cell(String test, int pipeline, String contestant, MedianRange ops, MedianRange cpuMicrosPerOp,
        MedianRange busyPercent,
        @Nullable Double hitPercent, @Nullable MedianRange ratio, @Nullable Double target) {

    /** The cell in words. */
    public String title() {
        return test + ", pipeline " + pipeline;
    }

    /**
     * Groups the measurements into cells.
     *
     * @param rival the contestant that the others are compared with; null for none
     * @param targets maxima of the first contestant's ratio, by {@link #title}
     */
    public static List<Cell> of(List<TrialResult> trials, @Nullable String rival, Map<String, Double> targets) {
        Map<String, List<TrialResult>> grouped = new LinkedHashMap<>();
        Set<String> contestants = new LinkedHashSet<>();
        for (TrialResult trial : trials) {
            contestants.add(trial.contestant());
            grouped.computeIfAbsent(trial.test() + "\0" + trial.pipeline() + "\0" + trial.contestant(),
                    _ -> new ArrayList<>()).add(trial);
        }
        List<Cell> cells = new ArrayList<>();
        for (List<TrialResult> same : grouped.values()) {
            TrialResult one = same.getFirst();
            List<Double> ratios = one.contestant().equals(rival)
                    ? List.of()
                    : ratios(same, ofRival(trials, one, rival));
            List<Double> hits = same.stream().map(TrialResult::hitPercent).filter(Double::isFinite).toList();
            boolean judged = !ratios.isEmpty() && one.contestant().equals(first(contestants, rival));
            cells.add(new Cell(one.test(), one.pipeline(), one.contestant(),
                    MedianRange.of(same.stream().map(TrialResult::ops).toList()),
                    MedianRange.of(same.stream().map(TrialResult::cpuMicrosPerOp).toList()),
                    MedianRange.of(same.stream().map(TrialResult::busyPercent).toList()),
                    hits.isEmpty() ? null : Double.valueOf(MedianRange.of(hits).min()),
                    ratios.isEmpty() ? null : MedianRange.of(ratios),
                    judged ? targets.get(one.test() + ", pipeline " + one.pipeline()) : null));
        }
        return List.copyOf(cells);
    }

    private static @Nullable String first(Set<String> contestants, @Nullable String rival) {
        return contestants.stream().filter(each -> !each.equals(rival)).findFirst().orElse(null);
    }

    private static List<TrialResult> ofRival(List<TrialResult> trials, TrialResult like, @Nullable String rival) {
        return trials.stream().filter(trial -> trial.contestant().equals(rival) && trial.test().equals(like.test())
                && trial.pipeline() == like.pipeline()).toList();
    }

    /** CPU per operation of each repetition, divided by that of the other list's corresponding repetition. */
    public static List<Double> ratios(List<TrialResult> some, List<TrialResult> others) {
        List<Double> ratios = new ArrayList<>();
        for (TrialResult trial : some) {
            for (TrialResult other : others) {
                if (other.repetition() == trial.repetition()) {
                    double ratio = trial.cpuMicrosPerOp() / other.cpuMicrosPerOp();
                    if (Double.isFinite(ratio)) {
                        ratios.add(ratio);
                    }
                }
            }
        }
        return ratios;
    }
}
