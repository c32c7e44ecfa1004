package io.varve.experiments.result.table;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

import io.varve.experiments.definition.Experiment.Figure;
import io.varve.experiments.result.PaperTable;
import io.varve.experiments.result.Percent;
import io.varve.experiments.result.RunMetrics;
import io.varve.experiments.result.RunRecord;

/** The figures and tables of the penalty paper as tables, with the published values. Stateless. */
final class PenaltyTables {
    private static final String NONE = "-";
    private static final double THOUSAND = 1000;
    private static final double MEGA = 1e6;
    private static final double WHOLE = 100;
    /** The paper's names of the compared servers, and ours. */
    private static final Map<String, String> THEIRS = Map.of("lru", "Redis", "hyperbolic", "Redis-HC", "penalty-hint",
            "pRedis");

    private PenaltyTables() {}

    private static PaperTable table(Figure figure, List<String> head, List<List<String>> rows, List<String> notes) {
        return new PaperTable(figure.id(), figure.title(), head, rows, figure.says() == null ? "" : figure.says(),
                rows.isEmpty() ? List.of() : notes);
    }

    /** Figure 14: mean response times of the second half, and their reduction against the baselines. */
    static PaperTable responses(Figure figure, List<RunRecord> runs, List<String> baselines) {
        List<String> head = new ArrayList<>(List.of("workload", "server", "mean, µs", "reads, µs"));
        baselines.forEach(baseline -> {
            head.add("below " + baseline);
            head.add("reads below " + baseline);
        });
        head.addAll(List.of("hits", "whole run: mean, µs", "p99, µs", "p99.99, µs"));
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
                "Second half of the operations, with the waits for the databases. Every write goes to a database, so "
                        + "the reads show more of the cache's effect."));
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
                "Whole run, with the start of the clients. The clients wait for the databases, so this is not the server's limit."));
    }

    /** Removes the scale's suffix of compressed workloads, which leaves the paper's name. */
    private static String asPublished(String workload) {
        return workload.replaceFirst("-(quick|small)$", "");
    }

    private static double throughput(List<RunRecord> runs, String workload, String server) {
        return of(runs, workload, server).map(run -> run.number(RunMetrics.THROUGHPUT)).orElse(Double.NaN);
    }

    /** Tables 2 and 3: the cost of the curves and of the division, and the bytes of penalties. */
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
                List.of("workload", "server", "divisions", "curves of the last one, µs", "optimization, µs",
                        "MB for penalties", "MB for curves", "both, share of maxmemory", "penalties measured",
                        "keys remembered"),
                rows,
                List.of("Curves: all classes together; the paper prints one class. All bytes are charged to maxmemory. Their share "
                        + "grows when maxmemory is small; OPERATING.md has the share at 10 GB."));
    }

    /** The simulated networks: requested and measured delays, and the total cost of a miss. */
    static PaperTable delays(Figure figure, List<RunRecord> runs) {
        List<String> head = new ArrayList<>(List.of("workload", "server"));
        for (String side : List.of("local", "remote")) {
            head.addAll(List.of(side + ": simulated delay, µs", side + ": measured", side + ": longest",
                    side + ": database's own time, µs", side + ": whole miss, µs", side + ": misses"));
        }
        head.addAll(List.of("all misses, s", "their simulated delays, s", "delays with exact LRU, s",
                "delays with the best fixed division, s", "its remote keys", "idle cores"));
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
            row.add(run.load().getOrDefault(PenaltyText.IDLE_CORES, "unknown"));
            rows.add(row);
        }
        return table(figure, head, rows, List.of(
                "Means of the whole run. The delay is simulated: the client holds each answer back for at least this time. "
                        + "If the client's core is busy, a thread waits longer, and the miss takes longer too.",
                "Exact LRU: the simulated delays with as many keys in one exact LRU stack. Best fixed division: with two "
                        + "stacks, one per database, whose fixed sizes are the best over the whole run. Both simulate another "
                        + "run of the workload, without flash. With a constant demand no division of memory can be much better."));
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

    /** Table 5: the throughput while accesses are recorded, as a share of that without. */
    static PaperTable recordedThroughput(Figure figure, List<RunRecord> runs) {
        List<List<String>> rows = new ArrayList<>();
        for (RunRecord run : runs) {
            for (String test : RequestsText.tests(run)) {
                if (RequestsText.isSingle(test)) {
                    continue;
                }
                Double published = PaperTables.value(figure, "pRedis", run.run().workload());
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
        return Double.isFinite(value) ? String.format(Locale.ROOT, format, value) : NONE;
    }
}
