package io.varve.experiments.result.table;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

import io.varve.experiments.definition.Experiment.Figure;
import io.varve.experiments.result.RunRecord;

/** The throughput while accesses are recorded (pRedis, Table 5). Stateless. */
final class RecordingTable {
    private static final double WHOLE = 100;
    private static final String PUBLISHED_GROUP = "pRedis";

    private RecordingTable() {}

    static PaperTable of(Figure figure, List<RunRecord> runs) {
        List<List<String>> rows = new ArrayList<>();
        for (RunRecord run : runs) {
            for (String test : RequestsText.tests(run)) {
                if (RequestsText.isSingle(test)) {
                    continue;
                }
                Double published = PaperTables.value(figure, PUBLISHED_GROUP, run.run().workload());
                rows.add(List.of(run.run().workload(), test,
                        number("%.1f", WHOLE * RequestsText.number(run, RequestsText.OPS, test,
                                RequestsText.OVER_RIVAL)),
                        number("%.1f", WHOLE * RequestsText.number(run, RequestsText.CPU, test,
                                RequestsText.OVER_RIVAL)),
                        number("%.1f", Objects.requireNonNullElse(published, Double.NaN))));
            }
        }
        return new PaperTable(figure.id(), figure.title(), List.of("clients", "load", "throughput, %",
                "CPU time of a request, %", "published throughput, %"), rows,
                figure.says() == null ? "" : figure.says(), List.of());
    }

    private static String number(String format, double value) {
        return Double.isFinite(value) ? String.format(Locale.ROOT, format, value) : "-";
    }
}
