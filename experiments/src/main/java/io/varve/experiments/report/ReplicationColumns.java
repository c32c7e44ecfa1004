package io.varve.experiments.report;

import java.util.List;

import io.varve.experiments.report.Columns.Grid;
import io.varve.experiments.result.MedianRange;
import io.varve.experiments.result.RunRecord;
import io.varve.experiments.result.table.ReplicationText;
import io.varve.experiments.result.table.Summary;

/** The bar charts of replication: a column for each pair of servers. Stateless. */
final class ReplicationColumns {
    static final String WITHOUT = "without a replica";
    static final String WITH = "with a replica";
    static final String MEDIAN = "median";
    static final String GREATEST = "greatest";
    static final String P99 = "99th percentile";
    static final String MEANWHILE = "during the synchronization";
    private static final double THOUSAND = 1e3;
    private static final double MEGABYTE = 1e6;

    /** A series of a chart: the name in the legend, and the number that it shows. */
    private record Shown(String series, String metric) {}

    private ReplicationColumns() {}

    static void add(List<Columns> all, Summary summary) {
        for (RunRecord run : summary.runs()) {
            if (ReplicationText.isIn(run)) {
                add(all, run);
            }
        }
    }

    private static void add(List<Columns> all, RunRecord run) {
        chart(all, run, "set-cpu", "CPU time of the primary for a SET", "µs", 1,
                new Shown(WITHOUT, ReplicationText.ALONE_CPU), new Shown(WITH, ReplicationText.REPLICATED_CPU));
        chart(all, run, "set-throughput", "Throughput of SET", "thousand SET/s", THOUSAND,
                new Shown(WITHOUT, ReplicationText.ALONE_OPS), new Shown(WITH, ReplicationText.REPLICATED_OPS));
        chart(all, run, "lag", "Time until the replica returns a written value", "ms", 1,
                new Shown(MEDIAN, ReplicationText.LAG_MEDIAN), new Shown(P99, ReplicationText.LAG_P99),
                new Shown(GREATEST, ReplicationText.LAG_MAX));
        chart(all, run, "sync-duration", "Duration of a full synchronization under load", "s", 1,
                new Shown(MEDIAN, ReplicationText.SYNC_SECONDS));
        chart(all, run, "sync-p50", "Median latency of the primary", "µs", 1,
                new Shown(WITHOUT, ReplicationText.QUIET_P50), new Shown(MEANWHILE, ReplicationText.SYNC_P50));
        chart(all, run, "sync-p99", "99th percentile of the latency of the primary", "µs", 1,
                new Shown(WITHOUT, ReplicationText.QUIET_P99), new Shown(MEANWHILE, ReplicationText.SYNC_P99));
        chart(all, run, "sync-p999", "99.9th percentile of the latency of the primary", "µs", 1,
                new Shown(WITHOUT, ReplicationText.QUIET_P999), new Shown(MEANWHILE, ReplicationText.SYNC_P999));
        chart(all, run, "sync-resident", "Resident memory of the primary, before and at its peak", "MB", MEGABYTE,
                new Shown(WITHOUT, ReplicationText.RESIDENT), new Shown(MEANWHILE, ReplicationText.PEAK));
        chart(all, run, "catch-up", "Time to catch up after a cut link, under writes", "s", 1,
                new Shown(MEDIAN, ReplicationText.CATCH_UP_SECONDS));
    }

    private static void chart(List<Columns> all, RunRecord run, String file, String title, String unit, double divisor,
            Shown... series) {
        Grid grid = new Grid();
        for (Shown each : series) {
            for (String pair : ReplicationText.pairs(run, each.metric())) {
                MedianRange range = ReplicationText.range(run, each.metric(), pair);
                if (range != null) {
                    // Text after a comma is drawn on a second line.
                    String column = pair.replace("-follows-", ", follows ");
                    if (each.series().equals(GREATEST)) {
                        grid.put(column, GREATEST, range.max() / divisor);
                    } else {
                        grid.put(column, each.series(), range, divisor);
                    }
                }
            }
        }
        if (!grid.isEmpty()) {
            all.add(grid.columns(file, title, unit));
        }
    }
}
