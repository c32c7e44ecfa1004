package io.varve.experiments.result.table;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import io.varve.experiments.definition.Experiment.Figure;
import io.varve.experiments.definition.Experiment.Published;
import io.varve.experiments.result.PaperTable;
import io.varve.experiments.result.RunRecord;

/**
 * The errors of learnt miss-ratio curves, and their table (pRedis, Figure 11). Stateless. An error is in points: the
 * mean distance of the learnt curve from the exact one, over evenly spaced sizes or over sizes with a constant ratio,
 * whichever is larger.
 */
public final class CurvesText {
    /** Followed by the stream's name, as are the next ones. */
    public static final String ERROR = "curve_error_points";
    public static final String LARGEST = "curve_largest_error_points";
    public static final String SAMPLED = "curve_sampled_percent";
    public static final String ACCESSES = "curve_accesses";
    public static final String MEAN = "curve_error_mean_points";
    public static final String MOST = "curve_error_max_points";

    private CurvesText() {}

    /** The name of a stream's metric. */
    public static String name(String metric, String stream) {
        return metric + " " + stream;
    }

    /** The streams of a run, in the order of their measurement. */
    public static List<String> streams(RunRecord run) {
        String head = name(ERROR, "");
        return run.measured().keySet().stream().filter(name -> name.startsWith(head))
                .map(name -> name.substring(head.length())).toList();
    }

    static PaperTable table(Figure figure, List<RunRecord> runs) {
        List<List<String>> rows = new ArrayList<>();
        for (RunRecord run : runs) {
            for (String stream : streams(run)) {
                rows.add(List.of(stream, number("%,.0f", run.number(name(ACCESSES, stream))),
                        number("%.1f", run.number(name(SAMPLED, stream))),
                        number("%.2f", run.number(name(ERROR, stream))),
                        number("%.2f", run.number(name(LARGEST, stream)))));
            }
            rows.add(List.of("mean", "", "", number("%.2f", run.number(MEAN)), ""));
        }
        List<Published> published = figure.published();
        if (published != null && !rows.isEmpty()) {
            published.forEach(each -> rows.add(List.of("published: " + each.metric(), "", "",
                    each.mean() == null ? "-" : number("%.2f", each.mean()), "")));
        }
        return new PaperTable(figure.id(), figure.title(),
                List.of("stream", "accesses", "sampled, %", "mean error, points", "largest error, points"), rows,
                figure.says() == null ? "" : figure.says(), List.of());
    }

    private static String number(String format, double value) {
        return Double.isFinite(value) ? String.format(Locale.ROOT, format, value) : "-";
    }
}
