package io.varve.experiments.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import io.varve.experiments.plan.Plan;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.result.table.Summary;

/** Writes PNG plots and {@code report.html} from the measurements. Confined to the thread that writes it. */
public final class Report {
    private final Plan plan;
    private final RunFiles files;
    private final Summary summary;

    public Report(Plan plan, RunFiles files, Summary summary) {
        this.plan = plan;
        this.files = files;
        this.summary = summary;
    }

    /** @return the page's path */
    public Path write() throws IOException {
        List<Curves> curves = Curves.of(plan, files);
        List<Bars> bars = Bars.of(plan, summary);
        List<Columns> columns = Columns.of(plan, summary);
        List<Graph> graphs = new ArrayList<>(PenaltyGraphs.of(plan, files));
        graphs.addAll(WarmUpGraphs.of(summary));
        graphs.addAll(PlacementGraphs.of(plan, summary));
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
