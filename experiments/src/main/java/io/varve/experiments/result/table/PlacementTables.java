package io.varve.experiments.result.table;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import io.varve.experiments.definition.Experiment.Figure;
import io.varve.experiments.plan.PlacementLoad;
import io.varve.experiments.plan.Plan;
import io.varve.experiments.result.PaperTable;
import io.varve.experiments.result.RunRecord;

/**
 * Figures 3 and 4 of the durable key-value store paper as tables, and a table of large clusters. Stateless. Source:
 * Song and Pu, "Implementation and Evaluation of a Durable Distributed Key-Value Store", section 4.2.
 */
final class PlacementTables {
    private static final String NONE = "-";
    private static final String NOT_PRINTED = "not printed";
    private static final String GROUP = "ring";
    private static final double KILOBYTE = 1e3;

    private PlacementTables() {}

    private static PaperTable table(Figure figure, List<String> head, List<List<String>> rows, List<String> notes) {
        return new PaperTable(figure.id(), figure.title(), head, rows, figure.says() == null ? "" : figure.says(),
                rows.isEmpty() ? List.of() : notes);
    }

    private static List<RunRecord> in(Figure figure, List<RunRecord> runs) {
        List<String> workloads = figure.workloads();
        return runs.stream().filter(PlacementText::isIn)
                .filter(run -> workloads == null || workloads.contains(run.run().workload())).toList();
    }

    /** Figure 3: minimum, mean and maximum of the keys per member. */
    static PaperTable keys(Figure figure, List<RunRecord> runs) {
        List<List<String>> rows = new ArrayList<>();
        for (RunRecord run : in(figure, runs)) {
            for (String placement : PlacementText.placements(run)) {
                rows.add(List.of(title(placement), published(figure, placement, "min"),
                        range(run, PlacementText.KEYS_LEAST, placement, "%,.0f"),
                        published(figure, placement, "mean"),
                        number("%,.0f", PlacementText.number(run, PlacementText.KEYS_MEAN, placement)),
                        published(figure, placement, "max"),
                        range(run, PlacementText.KEYS_MOST, placement, "%,.0f")));
            }
        }
        return table(figure, List.of("placement", "published minimum", "minimum (range)", "published mean", "mean",
                "published maximum", "maximum (range)"), rows, List.of(overSeeds(in(figure, runs))));
    }

    /** Figure 4: the standard deviation of the keys per member. */
    static PaperTable deviation(Figure figure, List<RunRecord> runs) {
        List<List<String>> rows = new ArrayList<>();
        List<String> notes = new ArrayList<>(List.of(overSeeds(in(figure, runs))));
        for (RunRecord run : in(figure, runs)) {
            for (String placement : PlacementText.placements(run)) {
                rows.add(List.of(title(placement), published(figure, placement, "deviation"),
                        range(run, PlacementText.KEYS_DEVIATION, placement, "%,.1f"),
                        number("%,.1f", PlacementText.number(run, PlacementText.KEYS_RMS, placement)),
                        number("%,.1f", PlacementText.number(run, PlacementText.KEYS_THEORY, placement))));
            }
            double better = run.number(PlacementText.BETTER_SEEDS);
            if (Double.isFinite(better)) {
                notes.add(String.format(Locale.ROOT, "With %d identifiers the deviation was lower than with the fewest "
                        + "under %.1f %% of the seeds.", PlacementText.PAPERS_MOST, better));
            }
        }
        return table(figure, List.of("placement", "published", "standard deviation (range)", "root mean square",
                "in theory"), rows, notes);
    }

    /** Large clusters: balance, moves and the size of the map. */
    static PaperTable scale(Plan plan, Figure figure, List<RunRecord> runs) {
        List<List<String>> rows = new ArrayList<>();
        for (RunRecord run : in(figure, runs)) {
            PlacementLoad load = plan.placement(run.run());
            for (String placement : PlacementText.placements(run)) {
                rows.add(List.of(String.format(Locale.ROOT, "%,d", load.members()), title(placement),
                        number("%,.0f", PlacementText.number(run, PlacementText.SLOTS_LEAST, placement)) + " to "
                                + number("%,.0f", PlacementText.number(run, PlacementText.SLOTS_MOST, placement)),
                        range(run, PlacementText.MOST_OVER_MEAN, placement, "%.3f"),
                        number("%.3f", PlacementText.number(run, PlacementText.KEYS_RMS, placement)
                                / PlacementText.number(run, PlacementText.KEYS_MEAN, placement)),
                        range(run, PlacementText.JOIN_SLOTS, placement, "%,.0f"),
                        number("%.3f", PlacementText.number(run, PlacementText.JOIN_OVER_FAIR, placement)),
                        range(run, PlacementText.LEAVE_SLOTS, placement, "%,.0f"),
                        number("%,.0f", PlacementText.number(run, PlacementText.RANGES, placement)),
                        number("%,.0f",
                                PlacementText.number(run, PlacementText.REPLY_BYTES, placement) / KILOBYTE),
                        range(run, PlacementText.MILLIS, placement, "%,.1f")));
            }
        }
        return table(figure, List.of("members", "placement", "slots of a member", "most keys / mean (range)",
                "deviation / mean", "join, slots (range)", "mean / fair", "leave, slots (range)", "ranges",
                "CLUSTER SLOTS, KB", "ms (range)"), rows, List.of(overSeeds(in(figure, runs))));
    }

    private static String overSeeds(List<RunRecord> runs) {
        return runs.isEmpty()
                ? ""
                : String.format(Locale.ROOT, "Medians over %.0f seeds, in brackets the least and the greatest.",
                        runs.getFirst().number(PlacementText.SEEDS));
    }

    private static String title(String placement) {
        return PlacementText.onRing(placement).isPresent()
                ? "keys on a ring, " + identifiers(PlacementText.onRing(placement).getAsInt())
                : PlacementText.slotsOnRing(placement).isPresent()
                        ? "slots on a ring, " + identifiers(PlacementText.slotsOnRing(placement).getAsInt())
                        : placement;
    }

    private static String identifiers(int count) {
        return count + (count == 1 ? " identifier" : " identifiers");
    }

    /** The paper has one series, which it does not divide by the number of identifiers where it prints a value. */
    private static String published(Figure figure, String placement, String metric) {
        if (PlacementText.onRing(placement).orElse(PlacementText.PAPERS_MOST + 1) > PlacementText.PAPERS_MOST) {
            return NONE;
        }
        Double value = PaperTables.value(figure, GROUP, metric);
        return value == null ? NOT_PRINTED : String.format(Locale.ROOT, "%,.0f", value);
    }

    private static String range(RunRecord run, String metric, String placement, String format) {
        return LocksText.text(PlacementText.range(run, metric, placement), format);
    }

    private static String number(String format, double value) {
        return Double.isFinite(value) ? String.format(Locale.ROOT, format, value) : NONE;
    }
}
