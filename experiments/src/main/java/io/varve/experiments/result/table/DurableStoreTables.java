package io.varve.experiments.result.table;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

import io.varve.experiments.definition.Experiment.Configuration;
import io.varve.experiments.definition.Experiment.Figure;
import io.varve.experiments.plan.LogMode;
import io.varve.experiments.plan.Plan;
import io.varve.experiments.result.Cell;
import io.varve.experiments.result.MedianRange;
import io.varve.experiments.result.PaperTable;
import io.varve.experiments.result.RunRecord;
import org.jspecify.annotations.Nullable;

/**
 * Tables 1 and 2 and Figure 5 of the durable key-value store paper, with the published values, and a table of our own
 * loads. Stateless. Source: Song and Pu, "Implementation and Evaluation of a Durable Distributed Key-Value Store".
 */
public final class DurableStoreTables {
    private static final String NONE = "-";
    private static final String NOT_PRINTED = "not printed";
    private static final String THROUGHPUT = "throughput";
    private static final String LATENCY = "latency";
    private static final double PERCENT = 100;
    /** The paper's three columns, by our modes. */
    private static final Map<LogMode, String> PUBLISHED = publishedModes();

    private DurableStoreTables() {}

    private static Map<LogMode, String> publishedModes() {
        Map<LogMode, String> modes = new LinkedHashMap<>();
        modes.put(LogMode.NONE, "baseline");
        modes.put(LogMode.ALWAYS, "sync");
        modes.put(LogMode.EVERYSEC, "async");
        return modes;
    }

    private static PaperTable table(Figure figure, List<String> head, List<List<String>> rows, List<String> notes) {
        return new PaperTable(figure.id(), figure.title(), head, rows, figure.says() == null ? "" : figure.says(),
                rows.isEmpty() ? List.of() : notes);
    }

    /** The configuration of a server with a log mode; null if the plan has none. */
    private static @Nullable String configuration(Plan plan, String group, LogMode mode) {
        for (String name : plan.available()) {
            Configuration configuration = plan.configurations().get(name);
            if (configuration != null && configuration.group().equals(group)
                    && LogMode.of(configuration.settings()) == mode) {
                return name;
            }
        }
        return null;
    }

    private static Set<String> groups(Plan plan) {
        Set<String> groups = new LinkedHashSet<>();
        for (String name : plan.available()) {
            Configuration configuration = plan.configurations().get(name);
            if (configuration != null) {
                groups.add(configuration.group());
            }
        }
        return groups;
    }

    /** Table 1: the clients that write a few records each. */
    static PaperTable log(Plan plan, Figure figure, List<RunRecord> runs) {
        List<String> head = new ArrayList<>(List.of("log", "published, records/s", "change", "published, ms"));
        for (String group : groups(plan)) {
            head.addAll(List.of(group + ", records/s (range)", "change", group + ", ms (range)"));
        }
        List<List<String>> rows = new ArrayList<>();
        for (RunRecord run : runs) {
            for (Map.Entry<LogMode, String> mode : PUBLISHED.entrySet()) {
                List<String> row = new ArrayList<>(List.of(mode.getValue() + " (" + mode.getKey().title() + ")",
                        published(figure, mode.getValue(), THROUGHPUT, "%,.1f"),
                        change(PaperTables.value(figure, mode.getValue(), THROUGHPUT),
                                PaperTables.value(figure, "baseline", THROUGHPUT)),
                        published(figure, mode.getValue(), LATENCY, "%.1f")));
                for (String group : groups(plan)) {
                    MedianRange records = range(run, WriteAheadLogText.RECORDS,
                            configuration(plan, group, mode.getKey()));
                    MedianRange plain = range(run, WriteAheadLogText.RECORDS,
                            configuration(plan, group, LogMode.NONE));
                    row.add(LocksText.text(records, "%,.0f"));
                    row.add(change(records == null ? null : Double.valueOf(records.median()),
                            plain == null ? null : Double.valueOf(plain.median())));
                    row.add(LocksText.text(
                            range(run, WriteAheadLogText.LATENCY, configuration(plan, group, mode.getKey())), "%.3f"));
                }
                if (run.measured().containsKey(WriteAheadLogText.ROUNDS)) {
                    rows.add(row);
                }
            }
        }
        List<String> notes = new ArrayList<>();
        notes.add("Medians of the rounds. A change is that of the medians.");
        for (RunRecord run : runs) {
            MedianRange force = run.range(WriteAheadLogText.FORCE);
            if (force != null) {
                notes.add("An append of 128 bytes was on this disk (" + run.load().getOrDefault("disk", "unknown")
                        + ") after " + LocksText.text(force, "%,.0f") + " µs.");
            }
        }
        return table(figure, head, rows, notes);
    }

    private static @Nullable MedianRange range(RunRecord run, String metric, @Nullable String configuration) {
        return configuration == null
                ? null
                : run.range(WriteAheadLogText.name(metric, configuration));
    }

    private static String change(@Nullable Double value, @Nullable Double base) {
        return value == null || base == null
                ? NONE
                : String.format(Locale.ROOT, "%+.1f %%", PERCENT * (value / base - 1));
    }

    /** Our loads: throughput and CPU time of a SET, and both as shares of those without a log. */
    static PaperTable logLoads(Figure figure, List<RunRecord> runs) {
        List<List<String>> rows = new ArrayList<>();
        for (RunRecord run : runs) {
            for (Cell cell : run.cells()) {
                rows.add(List.of(cell.title(), cell.contestant(), LocksText.text(cell.ops(), "%,.0f"),
                        LocksText.text(share(run, cell), "%.3f"), LocksText.text(cell.cpuMicrosPerOp(), "%.3f"),
                        LocksText.text(cell.ratio(), "%.3f"),
                        String.format(Locale.ROOT, "%.0f", cell.busyPercent().median())));
            }
        }
        return table(figure, List.of("load", "server", "SET/s (range)", "/ no log's", "CPU, µs/SET (range)",
                "/ no log's", "CPU, %"), rows,
                List.of("Medians of the repetitions. A share has two measurements of one repetition."));
    }

    /** The throughput of a cell as a share of that without a log; null for a server without a log. */
    public static @Nullable MedianRange share(RunRecord run, Cell cell) {
        return run.range(
                WriteAheadLogText.name(WriteAheadLogText.SHARE, cell.title() + " " + cell.contestant()));
    }

    /** Table 2: the stores in process, as multiples of the one with one lock. */
    static PaperTable locks(Figure figure, List<RunRecord> runs) {
        List<List<String>> rows = new ArrayList<>();
        for (RunRecord run : runs) {
            for (String store : LocksText.stores(run, LocksText.OPS)) {
                List<String> row = new ArrayList<>(List.of(store));
                for (String load : List.of(LocksText.READ, LocksText.READ_WRITE)) {
                    MedianRange cpu = LocksText.range(run, LocksText.CPU_NANOS, load, store);
                    row.add(LocksText.text(LocksText.range(run, LocksText.OPS, load, store), "%,.0f"));
                    row.add(LocksText.text(LocksText.range(run, LocksText.OVER_ONE_LOCK, load, store), "%.2f"));
                    row.add(published(figure, store, load, "%.2f"));
                    row.add(cpu == null ? NONE : String.format(Locale.ROOT, "%,.0f", cpu.median()));
                }
                rows.add(row);
            }
        }
        return table(figure, List.of("store", "read, requests/s (range)", "/ one lock's", "published", "CPU, ns",
                "read-write, requests/s (range)", "/ one lock's", "published", "CPU, ns"), rows,
                List.of("Medians of the rounds. A multiple has two measurements of one round."));
    }

    /** Figure 5: the servers. */
    static PaperTable servedLocks(Figure figure, List<RunRecord> runs) {
        List<List<String>> rows = new ArrayList<>();
        for (RunRecord run : runs) {
            for (String load : List.of(LocksText.READ, LocksText.READ_WRITE)) {
                for (String server : LocksText.stores(run, LocksText.SERVED_OPS)) {
                    rows.add(List.of(load, server,
                            LocksText.text(LocksText.range(run, LocksText.SERVED_OPS, load, server), "%,.0f"),
                            LocksText.text(LocksText.range(run, LocksText.OVER_ONE_SHARD, load, server), "%.3f"),
                            LocksText.text(LocksText.range(run, LocksText.SERVED_CPU, load, server), "%.2f")));
                }
            }
        }
        return table(figure, List.of("load", "server", "requests/s (range)", "/ one shard's", "CPU, µs (range)"), rows,
                List.of());
    }

    private static String published(Figure figure, String group, String metric, String format) {
        Double value = PaperTables.value(figure, group, metric);
        return value == null ? NOT_PRINTED : String.format(Locale.ROOT, format, value);
    }
}
