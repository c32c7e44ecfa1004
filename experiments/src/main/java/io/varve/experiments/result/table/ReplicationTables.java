package io.varve.experiments.result.table;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.BiFunction;

import io.varve.experiments.definition.Experiment.Figure;
import io.varve.experiments.result.MedianRange;
import io.varve.experiments.result.PaperTable;
import io.varve.experiments.result.RunRecord;

/** The tables of the experiment on replication. Stateless. */
final class ReplicationTables {
    private static final double ONE = 1;
    private static final double THOUSAND = 1e3;
    private static final double MEGABYTE = 1e6;
    private static final String COUNT = "%,.0f";
    private static final String MEDIANS = "Medians of the rounds, in brackets the least and the greatest.";

    private ReplicationTables() {}

    private static PaperTable table(Figure figure, List<RunRecord> runs, String metric, List<String> head,
            BiFunction<RunRecord, String, List<String>> row) {
        List<List<String>> rows = new ArrayList<>();
        for (RunRecord run : runs) {
            ReplicationText.pairs(run, metric).forEach(pair -> rows.add(row.apply(run, pair)));
        }
        return new PaperTable(figure.id(), figure.title(), head, rows, figure.says() == null ? "" : figure.says(),
                rows.isEmpty() ? List.of() : List.of(MEDIANS));
    }

    /** Writes without and with a replica, and its lag. */
    static PaperTable writes(Figure figure, List<RunRecord> runs) {
        return table(figure, runs, ReplicationText.ALONE_CPU,
                List.of("servers", "CPU alone, us (range)", "with a replica, us (range)", "of the replica, us",
                        "alone, thousand/s", "with a replica, thousand/s", "lag median, ms (range)",
                        "lag p99, ms (range)", "lag greatest, ms"),
                (run, pair) -> List.of(pair,
                        ReplicationText.range(run, ReplicationText.ALONE_CPU, pair, ONE, "%.2f"),
                        ReplicationText.range(run, ReplicationText.REPLICATED_CPU, pair, ONE, "%.2f"),
                        ReplicationText.median(run, ReplicationText.REPLICA_CPU, pair, ONE, "%.2f"),
                        ReplicationText.median(run, ReplicationText.ALONE_OPS, pair, THOUSAND, COUNT),
                        ReplicationText.median(run, ReplicationText.REPLICATED_OPS, pair, THOUSAND, COUNT),
                        ReplicationText.range(run, ReplicationText.LAG_MEDIAN, pair, ONE, "%,.1f"),
                        ReplicationText.range(run, ReplicationText.LAG_P99, pair, ONE, "%,.1f"),
                        greatest(run, ReplicationText.LAG_MAX, pair, "%,.1f")));
    }

    /** Full synchronizations under load. */
    static PaperTable synchronizations(Figure figure, List<RunRecord> runs) {
        return table(figure, runs, ReplicationText.SYNC_SECONDS,
                List.of("servers", "s (range)", "p50, us: before", "meanwhile", "p99, us: before", "meanwhile",
                        "p99.9, us: before", "meanwhile", "greatest, us: before", "meanwhile", "requests: before",
                        "meanwhile", "resident, MB: before", "peak", "copied by a child", "errors"),
                (run, pair) -> List.of(pair,
                        ReplicationText.range(run, ReplicationText.SYNC_SECONDS, pair, ONE, "%.2f"),
                        ReplicationText.median(run, ReplicationText.QUIET_P50, pair, ONE, COUNT),
                        ReplicationText.median(run, ReplicationText.SYNC_P50, pair, ONE, COUNT),
                        ReplicationText.median(run, ReplicationText.QUIET_P99, pair, ONE, COUNT),
                        ReplicationText.median(run, ReplicationText.SYNC_P99, pair, ONE, COUNT),
                        ReplicationText.median(run, ReplicationText.QUIET_P999, pair, ONE, COUNT),
                        ReplicationText.median(run, ReplicationText.SYNC_P999, pair, ONE, COUNT),
                        greatest(run, ReplicationText.QUIET_MAX, pair, COUNT),
                        greatest(run, ReplicationText.SYNC_MAX, pair, COUNT),
                        ReplicationText.median(run, ReplicationText.QUIET_REQUESTS, pair, ONE, COUNT),
                        ReplicationText.median(run, ReplicationText.SYNC_REQUESTS, pair, ONE, COUNT),
                        ReplicationText.median(run, ReplicationText.RESIDENT, pair, MEGABYTE, COUNT),
                        ReplicationText.median(run, ReplicationText.PEAK, pair, MEGABYTE, COUNT),
                        ReplicationText.median(run, ReplicationText.COPIED, pair, MEGABYTE, "%,.1f"),
                        greatest(run, ReplicationText.ERRORS, pair, COUNT)));
    }

    /** How replicas caught up after a cut link. */
    static PaperTable catchUps(Figure figure, List<RunRecord> runs) {
        return table(figure, runs, ReplicationText.PARTIAL,
                List.of("servers", "s (range)", "behind, MB (range)", "writes/s: stopped", "catching up", "errors",
                        "caught up", "partial", "full", "different data"),
                (run, pair) -> List.of(pair,
                        ReplicationText.range(run, ReplicationText.CATCH_UP_SECONDS, pair, ONE, "%.2f"),
                        ReplicationText.range(run, ReplicationText.BEHIND, pair, MEGABYTE, "%,.1f"),
                        ReplicationText.median(run, ReplicationText.STOPPED_OPS, pair, ONE, COUNT),
                        ReplicationText.median(run, ReplicationText.CATCH_UP_OPS, pair, ONE, COUNT),
                        greatest(run, ReplicationText.CATCH_UP_ERRORS, pair, COUNT),
                        ReplicationText.range(run, ReplicationText.CAUGHT_UP, pair, ONE, "%.0f"),
                        ReplicationText.range(run, ReplicationText.PARTIAL, pair, ONE, "%.0f"),
                        greatest(run, ReplicationText.FULL, pair, COUNT),
                        greatest(run, ReplicationText.DIFFERENT, pair, COUNT)));
    }

    /** The greatest of all rounds: a fault in one of them must show. */
    private static String greatest(RunRecord run, String metric, String pair, String format) {
        MedianRange range = ReplicationText.range(run, metric, pair);
        return range == null ? "-" : String.format(Locale.ROOT, format, range.max());
    }
}
