package io.varve.experiments.report;

import java.util.List;
import java.util.Objects;

import io.varve.experiments.definition.Experiment.Configuration;
import io.varve.experiments.definition.Experiment.Figure;
import io.varve.experiments.plan.LogMode;
import io.varve.experiments.plan.Plan;
import io.varve.experiments.report.Columns.Grid;
import io.varve.experiments.result.Cell;
import io.varve.experiments.result.MedianRange;
import io.varve.experiments.result.RunRecord;
import io.varve.experiments.result.table.DurableStoreTables;
import io.varve.experiments.result.table.LocksText;
import io.varve.experiments.result.table.PaperTables;
import io.varve.experiments.result.table.Summary;
import io.varve.experiments.result.table.WriteAheadLogText;
import org.jspecify.annotations.Nullable;

/**
 * The bar charts of write-ahead logs and of locks. Stateless. Source of the published bars: Song and Pu,
 * "Implementation and Evaluation of a Durable Distributed Key-Value Store", Tables 1 and 2.
 */
final class DurableStoreColumns {
    static final String MEASURED = "measured";
    static final String PUBLISHED = "published";
    private static final double THOUSAND = 1e3;
    private static final double MILLION = 1e6;

    private DurableStoreColumns() {}

    /** Throughput and CPU time with each log, and the paper's clients. */
    static void addLog(List<Columns> all, Plan plan, RunRecord run) {
        Grid ops = new Grid();
        Grid cpu = new Grid();
        Grid shares = new Grid();
        Grid costs = new Grid();
        Grid records = new Grid();
        for (String name : plan.available()) {
            Configuration configuration = Objects.requireNonNull(plan.configurations().get(name));
            String log = LogMode.of(configuration.settings()).title();
            for (Cell cell : run.cells()) {
                if (cell.contestant().equals(name)) {
                    String column = configuration.group() + ", " + cell.test().replaceAll(" clients?", "") + " x "
                            + cell.pipeline();
                    ops.put(column, log, cell.ops(), THOUSAND);
                    cpu.put(column, log, cell.cpuMicrosPerOp(), 1);
                    put(shares, column, log, DurableStoreTables.share(run, cell), 1);
                    put(costs, column, log, cell.ratio(), 1);
                    if (cell.target() != null) {
                        costs.putTarget(column, cell.target());
                    }
                }
            }
            put(records, configuration.group(), log,
                    run.range(WriteAheadLogText.name(WriteAheadLogText.RECORDS, name)), THOUSAND);
        }
        add(all, records, "table-1", "Table 1: clients that write a few records each", "thousand records/s");
        add(all, ops, "log-throughput", "SET by log; clients x pipeline", "thousand SET/s");
        add(all, shares, "log-throughput-share", "Throughput of SET / that of the same server without a log", "ratio");
        add(all, cpu, "log-cpu", "CPU time of a SET by log; clients x pipeline", "µs");
        add(all, costs, "log-cpu-share", "CPU time of a SET / that of the same server without a log", "ratio");
    }

    /** The stores in process as multiples of one lock, beside the published ones, and the servers. */
    static void addLocks(List<Columns> all, Plan plan, Summary summary) {
        for (RunRecord run : summary.runs()) {
            if (!LocksText.isIn(run)) {
                continue;
            }
            Grid multiples = new Grid();
            Grid ops = new Grid();
            Grid served = new Grid();
            for (String load : List.of(LocksText.READ, LocksText.READ_WRITE)) {
                for (String store : LocksText.stores(run, LocksText.OPS)) {
                    // Full names would overlap under the bars.
                    String column = store.replaceFirst("-locks?$", "") + ", " + load;
                    put(multiples, column, MEASURED, LocksText.range(run, LocksText.OVER_ONE_LOCK, load, store), 1);
                    Double published = published(plan, store, load);
                    if (published != null) {
                        multiples.put(column, PUBLISHED, published);
                    }
                    put(ops, column, MEASURED, LocksText.range(run, LocksText.OPS, load, store), MILLION);
                }
                for (String server : LocksText.stores(run, LocksText.SERVED_OPS)) {
                    put(served, server + ", " + load, MEASURED,
                            LocksText.range(run, LocksText.SERVED_OPS, load, server), THOUSAND);
                }
            }
            add(all, multiples, "table-2", "Table 2: throughput / that of one lock", "ratio");
            add(all, ops, "in-process-throughput", "Throughput of threads in process", "million requests/s");
            add(all, served, "figure-5", "Figure 5: throughput of clients of a server", "thousand requests/s");
        }
    }

    /** The published multiple; null if there is none, and for one lock, which has no measured one either. */
    private static @Nullable Double published(Plan plan, String store, String load) {
        List<Figure> figures = plan.experiment().figures();
        for (Figure figure : figures == null ? List.<Figure>of() : figures) {
            Double value = "locks".equals(figure.shows()) ? PaperTables.value(figure, store, load) : null;
            if (value != null && value != 1) {
                return value;
            }
        }
        return null;
    }

    private static void put(Grid grid, String column, String series, @Nullable MedianRange range, double unit) {
        if (range != null && Double.isFinite(range.median())) {
            grid.put(column, series, range, unit);
        }
    }

    private static void add(List<Columns> all, Grid grid, String file, String title, String unit) {
        if (!grid.isEmpty()) {
            all.add(grid.columns(file, title, unit));
        }
    }
}
