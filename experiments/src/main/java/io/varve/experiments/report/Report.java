package io.varve.experiments.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import io.varve.experiments.plan.Plan;
import io.varve.experiments.result.PaperTable;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.result.table.PaperTables;
import io.varve.experiments.result.table.Summary;

/** Writes {@code report.html} and its charts, as SVG and PNG. Confined to the thread that writes it. */
public final class Report {
    private final Plan plan;
    private final RunFiles files;
    private final Summary summary;
    private final List<String> fields;

    public Report(Plan plan, RunFiles files, Summary summary) {
        this(plan, files, summary, List.of());
    }

    /** @param fields fields of INFO to plot over time beside the usual quantities */
    public Report(Plan plan, RunFiles files, Summary summary, List<String> fields) {
        this.plan = plan;
        this.files = files;
        this.summary = summary;
        this.fields = List.copyOf(fields);
    }

    /** All tables of published and measured values: those of the definition, and those of the figures of ranges. */
    public static List<PaperTable> tables(Plan plan, Summary summary) {
        List<PaperTable> tables = new ArrayList<>(PaperTables.of(plan, summary));
        Bars.of(plan, summary).forEach(bars -> tables.add(bars.table()));
        return tables;
    }

    /**
     * Writes the page and the charts, which {@link io.varve.experiments.chart.ChartFile#in} lists.
     *
     * @return the page's path
     */
    public Path write() throws IOException {
        List<Curves> curves = Curves.of(plan, files, fields);
        List<Bars> bars = Bars.of(plan, summary);
        List<Columns> columns = new ArrayList<>(Columns.of(plan, summary));
        columns.addAll(InstanceFigures.throughput(plan, summary));
        List<Graph> graphs = new ArrayList<>(PenaltyGraphs.of(plan, files));
        graphs.addAll(WarmUpGraphs.of(summary));
        graphs.addAll(PlacementGraphs.of(plan, summary));
        graphs.addAll(CurveGraphs.of(plan, files));
        graphs.addAll(InstanceFigures.memory(plan, files));
        graphs.addAll(FlashGraphs.of(plan, summary));
        Path page = files.directory().resolve("report.html");
        Files.writeString(page, Page.html(plan, summary, curves, bars, columns, graphs));
        Plots plots = new Plots(files.directory());
        for (Curves each : curves) {
            plots.write(each);
        }
        for (Bars each : bars) {
            plots.write(each);
        }
        for (Columns each : columns) {
            plots.write(each);
        }
        for (Graph each : graphs) {
            plots.write(each);
        }
        return page;
    }
}
