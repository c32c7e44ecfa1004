package io.varve.experiments.report;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.varve.experiments.report.Graph.Line;
import io.varve.experiments.report.Graph.Point;
import io.varve.experiments.result.RunRecord;
import io.varve.experiments.result.table.Summary;
import io.varve.experiments.result.table.WarmUpText;

/** Draws the throughput over the seconds after a start, one line for each server. Stateless. */
final class WarmUpGraphs {
    private static final double THOUSAND = 1000;

    private WarmUpGraphs() {}

    static List<Graph> of(Summary summary) {
        Map<String, List<Line>> byWorkload = new LinkedHashMap<>();
        Set<String> drawn = new HashSet<>();
        for (RunRecord run : summary.runs()) {
            if (!WarmUpText.isIn(run)) {
                continue;
            }
            String workload = run.run().workload();
            for (String server : WarmUpText.servers(run, summary.baselines())) {
                // The baseline was measured with each of the others: its first line stands for all.
                if (drawn.add(workload + " " + server)) {
                    byWorkload.computeIfAbsent(workload, _ -> new ArrayList<>())
                            .add(new Line(server, Palette.html(server), false,
                                    points(WarmUpText.bySecond(run, server))));
                }
            }
        }
        List<Graph> graphs = new ArrayList<>();
        byWorkload.forEach((workload, lines) -> graphs.add(new Graph("warm-up_" + workload,
                "Throughput after a start, workload " + workload, "time of the load, s", "thousand operations/s", false,
                false, lines)));
        return graphs;
    }

    private static List<Point> points(List<Double> ops) {
        List<Point> points = new ArrayList<>();
        for (int i = 0; i < ops.size(); i++) {
            points.add(new Point(i + 1.0, ops.get(i) / THOUSAND));
        }
        return points;
    }
}
