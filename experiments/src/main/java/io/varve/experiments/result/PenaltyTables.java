package io.varve.experiments.result;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import io.varve.experiments.definition.Experiment.Figure;

/** The figures and tables of the penalty paper that are tables here, with the published values. Stateless. */
final class PenaltyTables {
    private static final String NONE = "-";
    private static final double THOUSAND = 1000;
    private static final double MEGA = 1e6;
    private static final double WHOLE = 100;
    /** The paper's names of what is compared, and ours. */
    private static final Map<String, String> THEIRS = Map.of("lru", "Redis", "hyperbolic", "Redis-HC", "penalty-hint",
            "pRedis");

    private PenaltyTables() {}

    private static PaperTable table(Figure figure, List<String> head, List<List<String>> rows, List<String> notes) {
        return new PaperTable(figure.id(), figure.title(), head, rows, figure.says() == null ? "" : figure.says(),
                rows.isEmpty() ? List.of() : notes);
    }

    /** Figure 14: mean response times of the second half, and how much less they are than the baselines'. */
    static PaperTable responses(Figure figure, List<RunRecord> runs, List<String> baselines) {
        List<String> head = new ArrayList<>(List.of("workload", "server", "mean, µs", "reads alone, µs"));
        baselines.forEach(baseline -> {
            head.add("less than " + baseline);
            head.add("reads");
        });
        head.addAll(List.of("hits", "of the whole run: mean, µs", "p99, µs", "p99.99, µs"));
        List<List<String>> rows = new ArrayList<>();
        for (RunRecord run : whole(runs)) {
            List<String> row = new ArrayList<>(List.of(run.run().workload(), run.run().configuration(),
                    number("%,.0f", run.number(PenaltyText.SETTLED)),
                    number("%,.0f", run.number(PenaltyText.READ_SETTLED))));
            for (String baseline : baselines) {
                Optional<RunRecord> other = of(runs, run.run().workload(), baseline);
                row.add(less(other, run, PenaltyText.SETTLED));
                row.add(less(other, run, PenaltyText.READ_SETTLED));
            }
            row.addAll(List.of(number("%.1f %%", WHOLE * run.number(PenaltyText.HITS_SETTLED)),
                    number("%,.0f", run.number(PenaltyText.RESPONSE)), number("%,.0f", run.number(LatencyText.P99)),
                    number("%,.0f", run.number(PenaltyText.P9999))));
            rows.add(row);
        }
        return table(figure, head, rows, List.of(
                "From half of the operations on, the clients' waits for the databases in it. Writes go to a database "
                        + "whatever the cache does: reads alone tell more of the cache."));
    }

    private static String less(Optional<RunRecord> than, RunRecord run, String name) {
        return than.isEmpty() || than.get().equals(run)
                ? NONE
                : number("%.1f %%", Percent.reduction(than.get().number(name), run.number(name)));
    }

    /** Table 4: throughput. */
    static PaperTable throughput(Figure figure, List<RunRecord> runs) {
        List<String> servers = new ArrayList<>(names(runs, false));
        List<String> head = new ArrayList<>(List.of("workload"));
        servers.forEach(server -> head.add(server + ", thousand/s"));
        List<String> compared = List.of("lru", "hyperbolic", "penalty-hint");
        compared.forEach(server -> head.add("published " + THEIRS.get(server)));
        head.addAll(List.of("penalty-hint over lru", "published"));
        List<List<String>> rows = new ArrayList<>();
        for (String workload : names(runs, true)) {
            List<String> row = new ArrayList<>(List.of(workload));
            for (String server : servers) {
                row.add(number("%.2f", throughput(runs, workload, server) / THOUSAND));
            }
            String theirs = asPublished(workload);
            for (String server : compared) {
                row.add(published(figure, server, theirs, "%.1f"));
            }
            row.add(number("%+.1f %%",
                    Percent.improvement(throughput(runs, workload, "lru"),
                            throughput(runs, workload, "penalty-hint"))));
            Double ours = PaperTables.value(figure, THEIRS.getOrDefault("penalty-hint", ""), theirs);
            Double base = PaperTables.value(figure, THEIRS.getOrDefault("lru", ""), theirs);
            row.add(ours == null || base == null ? NONE : number("%+.1f %%", Percent.improvement(base, ours)));
            rows.add(row);
        }
        return table(figure, head, rows, List.of(
                "Of the whole run, the clients' start in it. The clients wait for the databases: this is no limit of the server."));
    }

    /** Compressed workloads have the paper's names, and the scale's behind them. */
    private static String asPublished(String workload) {
        return workload.replaceFirst("-(quick|small)$", "");
    }

    private static double throughput(List<RunRecord> runs, String workload, String server) {
        return of(runs, workload, server).map(run -> run.number(Measured.THROUGHPUT)).orElse(Double.NaN);
    }

    /** Tables 2 and 3: what curves and programme cost, and the bytes that penalties take. */
    static PaperTable overhead(Figure figure, List<RunRecord> runs) {
        List<List<String>> rows = new ArrayList<>();
        for (RunRecord run : whole(runs)) {
            double bytes = run.number(PenaltyText.BYTES);
            if (Double.isFinite(bytes)) {
                double recorder = "yes".equals(run.settings().get("mrc-tracking"))
                        ? run.number(PenaltyText.RECORDER_BYTES)
                        : 0;
                rows.add(List.of(run.run().workload(), run.run().configuration(),
                        number("%,.0f", run.number(PenaltyText.DIVISIONS)),
                        number("%,.0f", run.number(PenaltyText.CURVES_MICROS)),
                        number("%,.0f", run.number(PenaltyText.DIVISION_MICROS)), number("%.2f", bytes / MEGA),
                        number("%.2f", recorder / MEGA),
                        number("%.2f %%", WHOLE * (bytes + recorder) / run.number(PenaltyText.LIMIT)),
                        number("%,.0f", run.number(PenaltyText.MEASURED)),
                        number("%,.0f", run.number(PenaltyText.REMEMBERED))));
            }
        }
        return table(figure,
                List.of("workload", "server", "divisions", "curves of the last, µs", "its programme, µs",
                        "MB for penalties", "MB for curves", "both of maxmemory", "penalties measured",
                        "keys remembered"),
                rows,
                List.of("Curves: all classes' together, where the paper prints one class's. All bytes are charged to maxmemory. "
                        + "They are a larger part of a small one: OPERATING.md says what they are of 10 GB."));
    }

    /** The networks that are not there: what was asked for, what it was, and what a miss cost in all. */
    static PaperTable delays(Figure figure, List<RunRecord> runs) {
        List<String> head = new ArrayList<>(List.of("workload", "server"));
        for (String side : List.of("local", "remote")) {
            head.addAll(List.of(side + ": simulated delay, µs", "measured", "longest", "the database's own time, µs",
                    "a miss in all, µs", "misses"));
        }
        head.addAll(List.of("all misses, s", "their simulated delays alone, s", "of exact LRU, simulated, s",
                "of the best fixed division, s", "remote keys in it", "idle cores"));
        List<List<String>> rows = new ArrayList<>();
        for (RunRecord run : whole(runs)) {
            List<String> row = new ArrayList<>(List.of(run.run().workload(), run.run().configuration()));
            for (String side : List.of("local", "remote")) {
                for (String what : List.of("simulated_delay_asked_us", "simulated_delay_measured_us",
                        "simulated_delay_longest_us", "database_own_us", "miss_penalty_us", "fetches")) {
                    row.add(number("%,.0f", run.number(PenaltyText.ofDatabase(side, what))));
                }
            }
            row.add(number("%,.2f", run.number(PenaltyText.MISS_SECONDS)));
            for (String seconds : List.of(PenaltyText.MISS_DELAY_SECONDS, PenaltyText.UNDIVIDED_SECONDS,
                    PenaltyText.BEST_SECONDS)) {
                row.add(number("%,.2f", run.number(seconds)));
            }
            row.add(number("%.0f %%", WHOLE * run.number(PenaltyText.BEST_SHARE)));
            row.add(run.load().getOrDefault(PenaltyText.IDLE_CORES, "not told"));
            rows.add(row);
        }
        return table(figure, head, rows, List.of(
                "Means of the whole run. The delay is simulated: each answer is held back so long at the least. Where the client's core is "
                        + "busy a thread waits longer, in the delay and everywhere; that is in the miss, too.",
                "Of exact LRU, and of the best fixed division: the delays that would have been asked for with as many keys in one exact LRU stack, and in two, one for each "
                        + "database, of the fixed sizes that are best over the whole run. Another run of the same workload, simulated, where "
                        + "nothing falls to flash. Where demand does not change, what is near to it is as good as dividing memory can be."));
    }

    private static List<RunRecord> whole(List<RunRecord> runs) {
        return runs.stream().filter(PenaltyText::isIn).toList();
    }

    private static Set<String> names(List<RunRecord> runs, boolean workloads) {
        Set<String> names = new LinkedHashSet<>();
        whole(runs).forEach(run -> names.add(workloads ? run.run().workload() : run.run().configuration()));
        return names;
    }

    private static Optional<RunRecord> of(List<RunRecord> runs, String workload, String configuration) {
        return runs.stream().filter(run -> run.run().workload().equals(workload)
                && run.run().configuration().equals(configuration)).findFirst();
    }

    private static String published(Figure figure, String server, String workload, String format) {
        Double value = PaperTables.value(figure, THEIRS.getOrDefault(server, ""), workload);
        return value == null ? NONE : number(format, value);
    }

    private static String number(String format, double value) {
        return Double.isFinite(value) ? String.format(Locale.ROOT, format, value) : NONE;
    }
}
