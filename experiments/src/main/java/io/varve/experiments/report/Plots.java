package io.varve.experiments.report;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

import io.varve.experiments.chart.ChartFile;
import io.varve.experiments.chart.ColumnChart;
import io.varve.experiments.chart.ColumnChart.Value;
import io.varve.experiments.chart.Dash;
import io.varve.experiments.chart.LineChart;
import io.varve.experiments.chart.Published;
import io.varve.experiments.result.DisplayName;
import io.varve.experiments.result.MedianRange;
import io.varve.experiments.result.Spread;
import org.jspecify.annotations.Nullable;

/** Draws the report's charts in our palette, as SVG and PNG. Confined to the thread that writes the report. */
final class Plots {
    static final String REPETITIONS = "least and greatest of the repetitions";
    static final String SETTINGS = "least and greatest of the settings";
    private static final String SINCE_FLUSH = "time since FLUSHALL, s";

    private final Path directory;

    Plots(Path directory) {
        this.directory = directory;
    }

    /** One chart per quantity: {@code memory_CELL} and so on. */
    void write(Curves curves) throws IOException {
        for (Curves.View view : curves.views()) {
            Map<String, String> colors = Palette.distinct(
                    view.lines().stream().map(Curves.Line::configuration).toList());
            List<LineChart.Line> lines = view.lines().stream()
                    .map(line -> new LineChart.Line(DisplayName.of(line.configuration()),
                            Palette.decoded(colors.get(line.configuration())),
                            line.configuration().equals(Palette.LIMIT) ? Dash.DASHED : Dash.SOLID,
                            line.points().stream()
                                    .map(point -> new LineChart.Point(point.seconds(), point.value(), Double.NaN,
                                            Double.NaN))
                                    .toList()))
                    .toList();
            new LineChart(view.title() + ": " + curves.title(), SINCE_FLUSH,
                    view.unit().isEmpty() ? view.title() : AxisTitle.of(view.unit()), false, false, lines, REPETITIONS)
                    .write(directory, view.name() + "_" + curves.cell());
        }
    }

    /** One chart: lines over any axis. */
    ChartFile write(Graph graph) throws IOException {
        List<LineChart.Line> lines = graph.lines().stream()
                .map(line -> new LineChart.Line(DisplayName.of(line.name()), Palette.decoded(line.color()),
                        line.dash(), line.points().stream()
                                .map(point -> new LineChart.Point(point.x(), point.y(), point.low(), point.high()))
                                .toList()))
                .toList();
        return new LineChart(graph.title(), graph.xTitle(), AxisTitle.of(graph.yTitle()), graph.logX(), graph.logY(),
                lines, REPETITIONS).write(directory, graph.file());
    }

    /** One chart per figure, a panel per metric. */
    void write(Bars bars) throws IOException {
        new ColumnChart(bars.title(), bars.panels().stream().map(panel -> panel(bars, panel)).toList(), SETTINGS)
                .write(directory, bars.figure().id().toLowerCase(Locale.ROOT).replace(' ', '-'));
    }

    /** One chart: a bar for each server in every column, a line where the target is. */
    void write(Columns columns) throws IOException {
        Map<String, String> colors = Palette.distinct(columns.series().stream().map(Columns.Series::name).toList());
        Set<String> used = new HashSet<>();
        List<ColumnChart.Series> series = new ArrayList<>();
        for (Columns.Series each : columns.series()) {
            String color = Objects.requireNonNull(colors.get(each.name()));
            List<@Nullable Value> values = new ArrayList<>();
            for (int i = 0; i < columns.names().size(); i++) {
                values.add(value(each.values().get(i), each.ranges().get(i)));
            }
            series.add(new ColumnChart.Series(DisplayName.of(each.name()), Palette.decoded(color), !used.add(color),
                    values));
        }
        List<@Nullable Published> published = new ArrayList<>();
        columns.names().forEach(_ -> published.add(null));
        new ColumnChart(columns.title(), List.of(new ColumnChart.Panel("", AxisTitle.of(columns.unit()),
                columns.names().stream().map(DisplayName::of).toList(), series, columns.targets(), published)),
                REPETITIONS).write(directory, columns.file());
    }

    private static @Nullable Value value(@Nullable Double value, @Nullable MedianRange range) {
        if (value == null) {
            return null;
        }
        return range == null || range.count() < 2
                ? new Value(value, Double.NaN, Double.NaN)
                : new Value(value, range.min(), range.max());
    }

    private static ColumnChart.Panel panel(Bars bars, Bars.Panel panel) {
        List<String> baselines = panel.bars().stream().map(Bars.Bar::baseline).distinct().toList();
        Map<String, String> colors = Palette.distinct(baselines);
        List<ColumnChart.Series> series = new ArrayList<>();
        for (String baseline : baselines) {
            List<@Nullable Value> values = new ArrayList<>();
            bars.columns().forEach(column -> values.add(panel.bars().stream()
                    .filter(bar -> bar.baseline().equals(baseline) && bar.column().equals(column)).findFirst()
                    .map(bar -> value(bar.spread())).orElse(null)));
            series.add(new ColumnChart.Series("measured vs " + DisplayName.of(baseline),
                    Palette.decoded(colors.get(baseline)), false, values));
        }
        List<@Nullable Published> published = new ArrayList<>();
        List<@Nullable Double> targets = new ArrayList<>();
        for (String column : bars.columns()) {
            targets.add(null);
            published.add(panel.bars().stream().filter(bar -> bar.column().equals(column)).map(Bars.Bar::published)
                    .filter(Objects::nonNull).findFirst()
                    .map(each -> new Published(each.min(), each.mean(), each.max())).orElse(null));
        }
        String[] words = panel.title().split(", ", 2);
        return new ColumnChart.Panel(words[0], AxisTitle.of(words[1].replace(" in %", ", %")),
                bars.columns().stream().map(DisplayName::of).toList(), series, targets, published);
    }

    private static Value value(Spread spread) {
        return spread.count() < 2
                ? new Value(spread.mean(), Double.NaN, Double.NaN)
                : new Value(spread.mean(), spread.min(), spread.max());
    }
}
