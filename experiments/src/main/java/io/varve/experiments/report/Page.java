package io.varve.experiments.report;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import com.fasterxml.jackson.databind.json.JsonMapper;
import io.varve.experiments.definition.Experiment.Kind;
import io.varve.experiments.definition.Experiment.Published;
import io.varve.experiments.plan.Plan;
import io.varve.experiments.result.BusyMachine;
import io.varve.experiments.result.Comparison;
import io.varve.experiments.result.DisplayName;
import io.varve.experiments.result.Machine;
import io.varve.experiments.result.RunMetrics;
import io.varve.experiments.result.RunRecord;
import io.varve.experiments.result.RunRecord.Outcome;
import io.varve.experiments.result.table.PaperTables;
import io.varve.experiments.result.table.Summary;
import org.jspecify.annotations.Nullable;

/**
 * The self-contained page {@code report.html}, which loads no other resource. Stateless.
 *
 * <p>The template has three placeholders: the data as JSON, the chart library, and the title. The script draws; all
 * texts are in the data.
 */
final class Page {
    private static final String TEMPLATE = "report.html";
    private static final String CHARTS = "/META-INF/resources/webjars/echarts/5.5.0/echarts.min.js";
    private static final JsonMapper JSON = JsonMapper.builder().build();

    private Page() {}

    static String html(Plan plan, Summary summary, List<Curves> curves, List<Bars> bars,
            List<Columns> columns, List<Graph> graphs) throws IOException {
        String data = JSON.writeValueAsString(model(plan, summary, curves, bars, columns, graphs)).replace("</",
                "<\\/");
        return text(Page.class.getResourceAsStream(TEMPLATE), TEMPLATE)
                .replace("/*DATA*/null", data)
                .replace("<!--TITLE-->", escaped(plan.experiment().title()))
                .replace("/*CHARTS*/", text(charts(), CHARTS).replace("</script", "<\\/script"));
    }

    private static @Nullable InputStream charts() {
        InputStream exact = Page.class.getResourceAsStream(CHARTS);
        return exact != null ? exact : Page.class.getResourceAsStream(CHARTS.replace("/5.5.0/", "/5.5.0/dist/"));
    }

    private static String text(@Nullable InputStream resource, String name) throws IOException {
        if (resource == null) {
            throw new IOException("not on the class path: " + name);
        }
        try (resource) {
            return new String(resource.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }

    private static Map<String, Object> model(Plan plan, Summary summary, List<Curves> curves, List<Bars> bars,
            List<Columns> columns, List<Graph> graphs) {
        Map<String, Object> model = new LinkedHashMap<>();
        model.put("experiment", plan.experiment().name());
        model.put("title", plan.experiment().title());
        model.put("question", plan.experiment().question());
        model.put("scale", plan.scaleName());
        model.put("about", plan.scale().about());
        model.put("embedded", plan.scale().embedded());
        model.put("notes", plan.experiment().notes() == null ? List.of() : plan.experiment().notes());
        model.put("planned", plan.runs().size());
        model.put("baselines", summary.baselines().stream().map(DisplayName::of).toList());
        model.put("machine", summary.runs().isEmpty() ? Machine.describe() : summary.runs().getLast().machine());
        model.put("throttled", plan.runs().stream().anyMatch(run -> plan.size(run).rate() > 0));
        model.put("probed",
                summary.runs().stream().anyMatch(r -> r.measured().containsKey(RunMetrics.PROBE_THROUGHPUT)));
        model.put("busy", BusyMachine.warning(summary.runs()).orElse(""));
        model.put("runs", summary.runs().stream().map(run -> row(summary, run)).toList());
        model.put("configurations", plan.configurations().entrySet().stream().map(each -> {
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("name", DisplayName.of(each.getKey()));
            row.put("color", Palette.html(each.getKey()));
            row.put("about", each.getValue().about() == null ? "" : each.getValue().about());
            row.put("settings", each.getValue().settings());
            return row;
        }).toList());
        model.put("curves", curves.stream().map(Page::curves).toList());
        model.put("figures", bars.stream().map(Page::figure).toList());
        model.put("columns", columns.stream().map(Page::columns).toList());
        model.put("graphsTitle", graphsTitle(plan.experiment().kind()));
        model.put("graphs", graphs.stream().map(Page::graph).toList());
        model.put("tablesTitle",
                plan.experiment().kind() == Kind.REPLICATION ? "Measurements" : "Published and measured");
        model.put("tables", PaperTables.of(plan, summary));
        return model;
    }

    private static String graphsTitle(Kind kind) {
        return switch (kind) {
            case WARM_UP -> "After a start";
            case PLACEMENT -> "Balance";
            case YCSB -> "The paper's figures over time";
            case SIMULATED, OBSERVED -> "Traversal, hits and misses";
            case CURVES -> "Miss-ratio curves";
            default -> "Response times, misses and penalty classes";
        };
    }

    private static Map<String, Object> row(Summary summary, RunRecord run) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("id", run.run().id());
        row.put("cell", run.run().cell());
        row.put("configuration", DisplayName.of(run.run().configuration()));
        row.put("color", Palette.html(run.run().configuration()));
        row.put("outcome", run.outcome());
        row.put("faults", run.faults());
        row.put("fellShort", run.fellShort());
        row.put("busy", BusyMachine.reasons(run));
        row.put("version", run.serverVersion());
        row.put("startedBy", run.startedBy());
        row.put("measured", run.measured());
        double throughput = Comparison.throughput(run);
        row.put("throughput", Double.isNaN(throughput) ? null : throughput);
        row.put("checks", run.checks());
        row.put("cells", run.cells());
        Map<String, Object> against = new LinkedHashMap<>();
        for (String baseline : summary.baselines()) {
            Comparison comparison = run.outcome() == Outcome.OK ? summary.against(run, baseline) : null;
            if (comparison != null) {
                Map<String, Object> metrics = new LinkedHashMap<>();
                for (String metric : List.of("mean-memory", "peak-memory", "mean-rss", "peak-rss", "throughput")) {
                    double value = comparison.metric(metric);
                    metrics.put(metric, Double.isNaN(value) ? null : value);
                }
                against.put(DisplayName.of(baseline), metrics);
            }
        }
        row.put("against", against);
        return row;
    }

    private static Map<String, Object> graph(Graph graph) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("title", graph.title());
        json.put("x", graph.xTitle());
        json.put("y", AxisTitle.of(graph.yTitle()));
        json.put("logX", graph.logX());
        json.put("logY", graph.logY());
        json.put("lines", graph.lines().stream().map(line -> {
            Map<String, Object> one = new LinkedHashMap<>();
            one.put("name", DisplayName.of(line.name()));
            one.put("color", line.color());
            one.put("dash", line.dash().name().toLowerCase(Locale.ROOT));
            one.put("points", line.points().stream()
                    .map(Page::point).toList());
            return one;
        }).toList());
        return json;
    }

    /** Two coordinates, and the range of the repetitions if there are any. */
    private static double[] point(Graph.Point point) {
        return Double.isFinite(point.low()) && Double.isFinite(point.high())
                ? new double[] {rounded(point.x()), rounded(point.y()), rounded(point.low()), rounded(point.high())}
                : new double[] {rounded(point.x()), rounded(point.y())};
    }

    private static Map<String, Object> columns(Columns columns) {
        Map<String, String> colors = Palette.distinct(columns.series().stream().map(Columns.Series::name).toList());
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("title", columns.title());
        json.put("unit", AxisTitle.of(columns.unit()));
        json.put("names", columns.names().stream().map(DisplayName::of).toList());
        json.put("targets", columns.targets());
        json.put("series", columns.series().stream().map(series -> {
            Map<String, Object> one = new LinkedHashMap<>();
            one.put("name", DisplayName.of(series.name()));
            one.put("color", colors.get(series.name()));
            one.put("values", series.values());
            one.put("ranges", series.ranges());
            return one;
        }).toList());
        return json;
    }

    private static Map<String, Object> curves(Curves curves) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("title", curves.title());
        json.put("like", curves.like());
        json.put("views", curves.views().stream().map(view -> {
            Map<String, Object> one = new LinkedHashMap<>();
            one.put("title", view.title());
            one.put("unit", view.unit());
            Map<String, String> colors = Palette.distinct(
                    view.lines().stream().map(Curves.Line::configuration).toList());
            one.put("lines", view.lines().stream().map(line -> line(line, colors)).toList());
            return one;
        }).toList());
        return json;
    }

    private static Map<String, Object> line(Curves.Line line, Map<String, String> colors) {
        List<double[]> points = new ArrayList<>();
        for (Curves.Point point : line.points()) {
            points.add(new double[] {rounded(point.seconds()), rounded(point.value())});
        }
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("name", DisplayName.of(line.configuration()));
        json.put("color", colors.get(line.configuration()));
        json.put("dash", line.configuration().equals(Palette.LIMIT) ? "dashed" : "solid");
        json.put("points", points);
        return json;
    }

    private static double rounded(double value) {
        return Math.round(value * 100) / 100.0;
    }

    private static Map<String, Object> figure(Bars bars) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("id", bars.figure().id());
        json.put("title", bars.figure().title());
        json.put("says", bars.figure().says() == null ? "" : bars.figure().says());
        json.put("columns", bars.columns().stream().map(DisplayName::of).toList());
        json.put("panels", bars.panels().stream().map(panel -> {
            Map<String, Object> one = new LinkedHashMap<>();
            one.put("metric", panel.metric());
            one.put("title", panel.title());
            one.put("bars", panel.bars().stream().map(Page::bar).toList());
            return one;
        }).toList());
        return json;
    }

    private static Map<String, Object> bar(Bars.Bar bar) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("column", DisplayName.of(bar.column()));
        json.put("baseline", DisplayName.of(bar.baseline()));
        json.put("color", Palette.html(bar.baseline()));
        json.put("spread", bar.spread());
        Published published = bar.published();
        if (published != null) {
            json.put("published", published);
        }
        return json;
    }
}
