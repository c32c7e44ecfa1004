package io.varve.experiments.report;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;

import io.varve.experiments.definition.Experiment;
import io.varve.experiments.definition.Experiment.Configuration;
import io.varve.experiments.definition.Experiment.Figure;
import io.varve.experiments.definition.Experiment.Published;
import io.varve.experiments.definition.Experiment.Server;
import io.varve.experiments.plan.Plan;
import io.varve.experiments.result.Comparison;
import io.varve.experiments.result.DisplayName;
import io.varve.experiments.result.PaperTable;
import io.varve.experiments.result.Spread;
import io.varve.experiments.result.table.Summary;
import org.jspecify.annotations.Nullable;

/**
 * A figure of ranges: the measured values that belong in it, and the published ones. Immutable.
 *
 * @param figure its definition
 * @param columns groups or configurations, in the order of the definition
 * @param panels one per metric
 */
record Bars(Figure figure, List<String> columns, List<Panel> panels) {
    private static final List<String> METRICS = List.of("mean-memory", "peak-memory", "throughput");

    /**
     * One metric.
     *
     * @param metric the name of the metric in {@link Comparison}
     * @param title  human-readable title
     * @param bars   measured, one per column and baseline
     */
    record Panel(String metric, String title, List<Bar> bars) {}

    /**
     * The measured range of one column against one baseline, and the column's published range.
     *
     * @param column group or configuration
     * @param baseline configuration
     * @param spread the measured range, percent
     * @param published null if none is printed
     */
    record Bar(String column, String baseline, Spread spread, @Nullable Published published) {}

    /** The figure's number and its title. */
    String title() {
        return figure.id() + ": " + figure.title();
    }

    /** All figures with measured values. */
    static List<Bars> of(Plan plan, Summary summary) {
        List<Figure> figures = plan.experiment().figures();
        List<Bars> result = new ArrayList<>();
        for (Figure figure : figures == null ? List.<Figure>of() : figures) {
            if (figure.shows() != null) {
                continue; // a table
            }
            Bars bars = of(figure, plan, summary);
            if (!bars.panels().isEmpty()) {
                result.add(bars);
            }
        }
        return result;
    }

    private static Bars of(Figure figure, Plan plan, Summary summary) {
        Experiment experiment = plan.experiment();
        boolean byConfiguration = "configuration".equals(figure.by());
        Set<String> columns = new LinkedHashSet<>();
        plan.configurations().forEach((name, configuration) -> {
            if (configuration.server() == Server.VARVE && !experiment.baselines().contains(name)
                    && figure.includesGroup(configuration.group())) {
                columns.add(byConfiguration ? instance(name, configuration) : configuration.group());
            }
        });
        List<Comparison> wanted = summary.comparisons().stream().filter(each -> each.run().isIn(figure)).toList();
        List<Panel> panels = new ArrayList<>();
        for (String metric : METRICS) {
            List<Bar> bars = new ArrayList<>();
            for (String baseline : experiment.baselines()) {
                for (String column : columns) {
                    List<Double> values = wanted.stream()
                            .filter(each -> each.baseline().equals(baseline)
                                    && column.equals(column(plan, each, byConfiguration)))
                            .map(each -> each.metric(metric))
                            .filter(value -> !value.isNaN())
                            .toList();
                    if (!values.isEmpty()) {
                        bars.add(new Bar(column, baseline, Spread.of(values), published(figure, column, metric)));
                    }
                }
            }
            if (!bars.isEmpty()) {
                panels.add(new Panel(metric, title(metric), bars));
            }
        }
        return new Bars(figure, List.copyOf(columns), List.copyOf(panels));
    }

    /** The figure as a table: a row per metric, column and baseline; published values if there are any. */
    PaperTable table() {
        boolean isPublished = figure.published() != null;
        List<List<String>> rows = new ArrayList<>();
        for (Panel panel : panels) {
            for (Bar bar : panel.bars()) {
                List<String> row = new ArrayList<>(
                        List.of(panel.title(), DisplayName.of(bar.column()), DisplayName.of(bar.baseline()),
                                number(bar.spread().min()), number(bar.spread().mean()), number(bar.spread().max()),
                                Integer.toString(bar.spread().count())));
                Published published = bar.published();
                if (isPublished) {
                    row.add(number(published == null ? null : published.min()));
                    row.add(number(published == null ? null : published.mean()));
                    row.add(number(published == null ? null : published.max()));
                }
                rows.add(row);
            }
        }
        List<String> head = new ArrayList<>(List.of("metric", "buckets", "compared with", "least", "mean", "greatest",
                "settings"));
        if (isPublished) {
            head.addAll(List.of("published least", "published mean", "published greatest"));
        }
        return new PaperTable(figure.id(), figure.title(), head, rows, figure.says() == null ? "" : figure.says(),
                List.of());
    }

    private static String number(@Nullable Double value) {
        return value == null ? "not printed" : String.format(Locale.ROOT, "%.1f", value);
    }

    private static String title(String metric) {
        return switch (metric) {
            case "mean-memory" -> "Mean memory, reduction in %";
            case "peak-memory" -> "Peak memory, reduction in %";
            default -> "Throughput, improvement in %";
        };
    }

    private static String column(Plan plan, Comparison comparison, boolean byConfiguration) {
        Configuration configuration = plan.configuration(comparison.run());
        return byConfiguration ? instance(comparison.run().configuration(), configuration) : configuration.group();
    }

    /** The paper's name of a configuration; its own if the paper does not have it. */
    private static String instance(String name, Configuration configuration) {
        return Objects.requireNonNullElse(configuration.paperName(), name);
    }

    private static @Nullable Published published(Figure figure, String column, String metric) {
        List<Published> all = figure.published();
        if (all == null) {
            return null;
        }
        return all.stream().filter(each -> each.group().equals(column) && each.metric().equals(metric)).findFirst()
                .orElse(null);
    }
}
