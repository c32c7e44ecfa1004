package io.varve.experiments.report;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import io.varve.experiments.definition.Experiment.Kind;
import io.varve.experiments.plan.Plan;
import io.varve.experiments.plan.RunSpec;
import io.varve.experiments.report.Graph.Line;
import io.varve.experiments.report.Graph.Point;
import io.varve.experiments.result.RunFiles;

/** The learnt and the exact miss-ratio curve of each stream (pRedis, Figure 11). Stateless. */
final class CurveGraphs {
    private static final double WHOLE = 100;
    private static final double MEGABYTE = 1e6;
    static final String EXACT = "exact";
    static final String LEARNT = "learnt from a sample";

    private CurveGraphs() {}

    static List<Graph> of(Plan plan, RunFiles files) throws IOException {
        List<Graph> graphs = new ArrayList<>();
        for (RunSpec run : plan.runs().stream().filter(run -> plan.kind(run) == Kind.CURVES).toList()) {
            Map<String, List<Point>> exact = new LinkedHashMap<>();
            Map<String, List<Point>> learnt = new LinkedHashMap<>();
            for (String row : files.rows(run, RunFiles.CURVES_CSV)) {
                String[] cells = row.split(",", -1);
                double megabytes = Double.parseDouble(cells[1]) / MEGABYTE;
                exact.computeIfAbsent(cells[0], _ -> new ArrayList<>())
                        .add(new Point(megabytes, WHOLE * Double.parseDouble(cells[2])));
                learnt.computeIfAbsent(cells[0], _ -> new ArrayList<>())
                        .add(new Point(megabytes, WHOLE * Double.parseDouble(cells[3])));
            }
            exact.forEach((stream, points) -> graphs.add(new Graph("curve_" + file(stream),
                    "Figure 11: miss ratios, " + stream, "memory, MB", "miss ratio, %", false, false,
                    List.of(new Line(EXACT, Palette.html(EXACT), false, points),
                            new Line(LEARNT, Palette.html(LEARNT), true,
                                    learnt.getOrDefault(stream, List.of()))))));
        }
        return graphs;
    }

    private static String file(String stream) {
        return stream.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "-").replaceAll("^-|-$", "");
    }
}
