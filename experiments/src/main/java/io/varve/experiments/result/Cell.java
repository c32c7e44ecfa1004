package io.varve.experiments.result;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * All repetitions of a contestant's turn at one test and pipeline. Immutable.
 *
 * @param test           its name
 * @param pipeline       commands that a connection sends at once
 * @param contestant     the server's name
 * @param ops            requests a second
 * @param cpuMicrosPerOp of the server
 * @param busyPercent    of one core, by the server
 * @param hitPercent     the least of the repetitions; null if the test reads nothing
 * @param ratio          CPU per operation over that of who is compared with, in the same repetition; null for that one, or where there is none
 * @param target         what the ratio is to be at most; null if nothing is asked
 */
public record Cell(String test, int pipeline, String contestant, Middle ops, Middle cpuMicrosPerOp, Middle busyPercent,
        @Nullable Double hitPercent, @Nullable Middle ratio, @Nullable Double target) {

    /** Which cell, in words. */
    public String title() {
        return test + ", pipeline " + pipeline;
    }

    /**
     * Gathers the turns.
     *
     * @param rival   the contestant that the others are compared with; null for none
     * @param targets of the first contestant's ratio, by {@link #title}
     */
    public static List<Cell> of(List<Turn> turns, @Nullable String rival, Map<String, Double> targets) {
        Map<String, List<Turn>> grouped = new LinkedHashMap<>();
        Set<String> contestants = new LinkedHashSet<>();
        for (Turn turn : turns) {
            contestants.add(turn.contestant());
            grouped.computeIfAbsent(turn.test() + "\0" + turn.pipeline() + "\0" + turn.contestant(),
                    _ -> new ArrayList<>()).add(turn);
        }
        List<Cell> cells = new ArrayList<>();
        for (List<Turn> same : grouped.values()) {
            Turn one = same.getFirst();
            List<Double> ratios = one.contestant().equals(rival) ? List.of() : ratios(same, ofRival(turns, one, rival));
            List<Double> hits = same.stream().map(Turn::hitPercent).filter(Double::isFinite).toList();
            boolean judged = !ratios.isEmpty() && one.contestant().equals(first(contestants, rival));
            cells.add(new Cell(one.test(), one.pipeline(), one.contestant(),
                    Middle.of(same.stream().map(Turn::ops).toList()),
                    Middle.of(same.stream().map(Turn::cpuMicrosPerOp).toList()),
                    Middle.of(same.stream().map(Turn::busyPercent).toList()),
                    hits.isEmpty() ? null : Double.valueOf(Middle.of(hits).min()),
                    ratios.isEmpty() ? null : Middle.of(ratios),
                    judged ? targets.get(one.test() + ", pipeline " + one.pipeline()) : null));
        }
        return List.copyOf(cells);
    }

    private static @Nullable String first(Set<String> contestants, @Nullable String rival) {
        return contestants.stream().filter(each -> !each.equals(rival)).findFirst().orElse(null);
    }

    private static List<Turn> ofRival(List<Turn> turns, Turn like, @Nullable String rival) {
        return turns.stream().filter(turn -> turn.contestant().equals(rival) && turn.test().equals(like.test())
                && turn.pipeline() == like.pipeline()).toList();
    }

    /** CPU per operation of each repetition over that of the other list's same repetition. */
    public static List<Double> ratios(List<Turn> some, List<Turn> others) {
        List<Double> ratios = new ArrayList<>();
        for (Turn turn : some) {
            for (Turn other : others) {
                if (other.repetition() == turn.repetition()) {
                    double ratio = turn.cpuMicrosPerOp() / other.cpuMicrosPerOp();
                    if (Double.isFinite(ratio)) {
                        ratios.add(ratio);
                    }
                }
            }
        }
        return ratios;
    }
}
