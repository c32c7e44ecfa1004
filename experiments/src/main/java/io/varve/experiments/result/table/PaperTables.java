package io.varve.experiments.result.table;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

import io.varve.experiments.definition.Experiment.Configuration;
import io.varve.experiments.definition.Experiment.Figure;
import io.varve.experiments.definition.Experiment.Kind;
import io.varve.experiments.definition.Experiment.Published;
import io.varve.experiments.plan.Plan;
import io.varve.experiments.plan.RunSpec;
import io.varve.experiments.result.Comparison;
import io.varve.experiments.result.DisplayName;
import io.varve.experiments.result.PaperTable;
import io.varve.experiments.result.RunMetrics;
import io.varve.experiments.result.RunRecord;
import io.varve.experiments.result.RunRecord.Outcome;
import org.jspecify.annotations.Nullable;

/** The figures of the papers as tables, with the published values. Confined to the thread that makes them. */
public final class PaperTables {
    /** The paper's names of its two servers. */
    private static final String THEIRS = "Redis++";
    private static final String THEIR_RIVAL = "Redis";
    private static final String NONE = "-";
    private static final double WHOLE = 100;
    private static final double MEGABYTE = 1e6;
    private static final double MILLI = 1e3;
    /** The rows of the paper's Table 5 among those of its Table 1. */
    private static final Map<String, String> TABLE_FIVE = new TreeMap<>(
            Map.of("W2", "W1", "W3", "W2", "W6", "W3", "W7", "W4"));

    private final Plan plan;
    private final List<RunRecord> runs;

    private PaperTables(Plan plan, List<RunRecord> runs) {
        this.plan = plan;
        this.runs = runs;
    }

    /** The definition's figures that are tables and have measured values. */
    public static List<PaperTable> of(Plan plan, Summary summary) {
        List<Figure> figures = plan.experiment().figures();
        List<PaperTable> tables = new ArrayList<>();
        PaperTables paper = new PaperTables(plan, summary.runs());
        for (Figure figure : figures == null ? List.<Figure>of() : figures) {
            if (figure.shows() != null) {
                PaperTable table = paper.of(figure).table(figure, figure.shows());
                if (!table.rows().isEmpty() || !table.notes().isEmpty()) {
                    tables.add(table);
                }
            }
        }
        return tables;
    }

    /** The tables over the figure's workloads only. */
    private PaperTables of(Figure figure) {
        List<String> workloads = figure.workloads();
        return workloads == null
                ? this
                : new PaperTables(plan, runs.stream().filter(run -> workloads.contains(run.run().workload())).toList());
    }

    /** All tables for a terminal. */
    public static String text(List<PaperTable> tables) {
        StringBuilder text = new StringBuilder();
        tables.forEach(table -> text.append(table.text()));
        return tables.isEmpty() ? "" : text.append('\n').toString();
    }

    private PaperTable table(Figure figure, String shows) {
        return switch (shows) {
            case "allocators" -> allocators(figure);
            case "utilization" -> utilization(figure);
            case "reclaim-cost" -> reclaimCost(figure);
            case "delay" -> delay(figure);
            case "throughput" -> throughput(figure);
            case "cache-misses" -> cacheMisses(figure);
            case "policy-memory" -> FlashTables.memory(figure, runs(Kind.POLICY_MEMORY));
            case "policy-bits" -> FlashTables.bits(figure, runs(Kind.POLICY_MEMORY));
            case "cache-metadata" -> FlashTables.metadata(figure, runs(Kind.POLICY_MEMORY));
            case "hit-rates" -> FlashTables.hitRates(figure, runs(figure, Kind.SIMULATED));
            case "miss-rates" -> FlashTables.missRates(figure, runs(figure, Kind.SIMULATED));
            case "hits-and-misses" -> FlashTables.hitsAndMisses(figure, runs(figure, Kind.SIMULATED));
            case "observed-hit-rates" -> FlashTables.observed(figure, runs(figure, Kind.OBSERVED));
            case "operations" -> FlashTables.operations(figure, runs(figure, Kind.OBSERVED));
            case "traversal" -> FlashTables.traversal(figure, runs(figure, Kind.SIMULATED));
            case "false-negatives" -> FlashTables.falseNegatives(figure, runs(figure, Kind.SIMULATED));
            case "response-times" ->
                PenaltyTables.responses(figure, runs(Kind.PENALTY), plan.experiment().baselines());
            case "penalty-throughput" -> PenaltyTables.throughput(figure, runs(Kind.PENALTY));
            case "penalty-overhead" -> PenaltyTables.overhead(figure, runs(Kind.PENALTY));
            case "simulated-delays" -> PenaltyTables.delays(figure, runs(Kind.PENALTY));
            case "write-ahead-log" -> DurableStoreTables.log(plan, figure, runs(Kind.WRITE_AHEAD_LOG));
            case "write-ahead-log-loads" -> DurableStoreTables.logLoads(figure, runs(Kind.WRITE_AHEAD_LOG));
            case "recorded-throughput" -> PenaltyTables.recordedThroughput(figure, runs(Kind.PAPER_REQUESTS));
            case "curve-errors" -> CurvesText.table(figure, runs(Kind.CURVES));
            case "locks" -> DurableStoreTables.locks(figure, runs(Kind.LOCKS));
            case "served-locks" -> DurableStoreTables.servedLocks(figure, runs(Kind.LOCKS));
            case "keys-per-member" -> PlacementTables.keys(figure, runs(Kind.PLACEMENT));
            case "keys-deviation" -> PlacementTables.deviation(figure, runs(Kind.PLACEMENT));
            case "placement-scale" -> PlacementTables.scale(plan, figure, runs(Kind.PLACEMENT));
            case "replicated-writes" -> ReplicationTables.writes(figure, runs(Kind.REPLICATION));
            case "synchronizations" -> ReplicationTables.synchronizations(figure, runs(Kind.REPLICATION));
            case "catch-ups" -> ReplicationTables.catchUps(figure, runs(Kind.REPLICATION));
            case Figure.MEMORY_CURVES -> instances(figure, true);
            case Figure.INSTANCE_THROUGHPUT -> instances(figure, false);
            default -> throw new IllegalArgumentException(figure.id() + " shows '" + shows + "': expected "
                    + "allocators, utilization, reclaim-cost, delay, throughput, cache-misses, policy-memory, policy-bits, "
                    + "cache-metadata, hit-rates, hits-and-misses, "
                    + "miss-rates, traversal, false-negatives, observed-hit-rates, operations, response-times, "
                    + "penalty-throughput, penalty-overhead, simulated-delays, write-ahead-log, "
                    + "write-ahead-log-loads, recorded-throughput, curve-errors, locks, served-locks, keys-per-member, "
                    + "keys-deviation, placement-scale, replicated-writes, synchronizations, catch-ups, "
                    + Figure.MEMORY_CURVES + ", " + Figure.INSTANCE_THROUGHPUT);
        };
    }

    private static PaperTable table(Figure figure, List<String> head, List<List<String>> rows, List<String> notes) {
        return new PaperTable(figure.id(), figure.title(), head, rows, figure.says() == null ? "" : figure.says(),
                notes);
    }

    private List<RunRecord> runs(Kind kind) {
        return runs.stream().filter(run -> plan.kind(run.run()) == kind).toList();
    }

    /** The runs of the kind with the workloads that a figure names. */
    private List<RunRecord> runs(Figure figure, Kind kind) {
        List<String> workloads = figure.workloads();
        return runs(kind).stream()
                .filter(run -> workloads == null || workloads.contains(run.run().workload())).toList();
    }

    private static Optional<RunRecord> run(List<RunRecord> of, String workload, String configuration) {
        return of.stream().filter(run -> run.run().workload().equals(workload)
                && run.run().configuration().equals(configuration)).findFirst();
    }

    private static Set<String> workloads(List<RunRecord> of) {
        Set<String> workloads = new LinkedHashSet<>();
        of.forEach(run -> workloads.add(run.run().workload()));
        return workloads;
    }

    private static List<String> configurations(List<RunRecord> of) {
        Set<String> configurations = new LinkedHashSet<>();
        of.forEach(run -> configurations.add(run.run().configuration()));
        return List.copyOf(configurations);
    }

    private PaperTable allocators(Figure figure) {
        List<RunRecord> all = runs(Kind.FRAGMENTATION);
        List<String> servers = configurations(all);
        List<String> head = new ArrayList<>(List.of("load"));
        head.addAll(servers);
        head.add("lowest");
        List<List<String>> rows = new ArrayList<>();
        for (String workload : workloads(all)) {
            List<String> row = new ArrayList<>(List.of(workload));
            Map<String, Double> wasted = new TreeMap<>();
            for (String server : servers) {
                Optional<RunRecord> run = run(all, workload, server);
                double live = run.map(each -> each.number(FragmentationText.LIVE_FROM_FRESH)).orElse(Double.NaN);
                double ratio = run.map(each -> each.number(FragmentationText.OVER_USED)).orElse(Double.NaN);
                row.add(Double.isFinite(live)
                        ? number("%.1f %%", WHOLE * (1 - live)) + " (" + number("%.2f", ratio) + ")"
                        : NONE);
                if (Double.isFinite(live)) {
                    wasted.put(server, 1 - live);
                }
            }
            row.add(min(wasted));
            rows.add(row);
        }
        List<String> notes = new ArrayList<>();
        if (!rows.isEmpty()) {
            notes.add(
                    "Share of the process's growth since its start that is neither key nor value. Memory that it kept after "
                            + "FLUSHALL counts, including a JVM's code and heap: some 40 MB with any limit. In parentheses: "
                            + "resident memory / used_memory, which is Redis's mem_fragmentation_ratio.");
        }
        plan.missing().forEach((configuration, why) -> notes.add(configuration + " is omitted: " + why + "."));
        return table(figure, head, rows, notes);
    }

    /** A run's instance by the paper's name, with ours in parentheses if it differs. */
    public static String instance(RunSpec run, Configuration configuration) {
        String theirs = configuration.paperName();
        if (theirs == null) {
            return DisplayName.of(run.configuration());
        }
        String whole = theirs.matches("\\d+-\\d+") ? "Exp-" + theirs + "-" + run.threads() : theirs;
        return theirs.equals(run.configuration()) ? whole : whole + " (" + run.configuration() + ")";
    }

    /** The instances of the settings that the figure includes: their memory over time, or their throughput. */
    private PaperTable instances(Figure figure, boolean memory) {
        List<RunRecord> all = runs.stream().filter(run -> run.run().isIn(figure) && run.outcome() == Outcome.OK)
                .toList();
        List<String> baselines = plan.experiment().baselines();
        List<String> head = new ArrayList<>(List.of("setting", "instance"));
        head.addAll(memory ? List.of("mean MB", "peak MB", "end of operations, s") : List.of("operations/s"));
        for (String baseline : baselines) {
            head.addAll(memory
                    ? List.of("mean, reduction vs " + baseline, "peak, reduction vs " + baseline)
                    : List.of("improvement vs " + baseline));
        }
        head.add("published");
        List<List<String>> rows = new ArrayList<>();
        for (RunRecord run : all) {
            List<String> row = new ArrayList<>(
                    List.of(run.run().cellTitle(), instance(run.run(), plan.configuration(run.run()))));
            if (memory) {
                row.add(number("%,.1f", run.number(RunMetrics.MEAN_MEMORY) / MEGABYTE));
                row.add(number("%,.1f", run.number(RunMetrics.PEAK_MEMORY) / MEGABYTE));
                row.add(number("%,.0f", run.phases().stream().filter(phase -> phase.name().equals("operations"))
                        .mapToDouble(phase -> phase.endMillis() / MILLI).findFirst().orElse(Double.NaN)));
            } else {
                row.add(number("%,.0f", Comparison.throughput(run)));
            }
            for (String baseline : baselines) {
                Optional<Comparison> against = all.stream()
                        .filter(each -> each.run().configuration().equals(baseline) && !each.equals(run)
                                && each.run().cell().equals(run.run().cell()))
                        .map(each -> Comparison.of(run, each)).findFirst();
                for (String metric : memory ? List.of("mean-memory", "peak-memory") : List.of("throughput")) {
                    row.add(against.map(each -> number("%+.1f %%", each.metric(metric))).orElse(NONE));
                }
            }
            row.add("not printed");
            rows.add(row);
        }
        return table(figure, head, rows, List.of());
    }

    private static String min(Map<String, Double> values) {
        return values.entrySet().stream().min(Comparator.comparingDouble(Map.Entry::getValue)).map(Map.Entry::getKey)
                .orElse(NONE);
    }

    private PaperTable utilization(Figure figure) {
        List<RunRecord> all = runs(Kind.FRAGMENTATION).stream()
                .filter(run -> plan.configuration(run.run()).allocator() == null).toList();
        List<String> servers = configurations(all);
        List<String> head = new ArrayList<>(List.of("load"));
        servers.forEach(server -> {
            head.add(server);
            head.add(server + ", share of the process");
        });
        head.addAll(List.of("published " + THEIRS, "published " + THEIR_RIVAL));
        List<List<String>> rows = new ArrayList<>();
        TABLE_FIVE.forEach((ours, theirs) -> {
            List<String> row = new ArrayList<>(List.of(theirs + " (" + ours + " of Table 1)"));
            boolean measured = false;
            for (String server : servers) {
                Optional<RunRecord> run = run(all, ours, server);
                row.add(percent(run, FragmentationText.LIVE));
                row.add(percent(run, FragmentationText.OF_RESIDENT));
                measured |= run.isPresent();
            }
            row.add(published(figure, THEIRS, theirs, "%.1f %%"));
            row.add(published(figure, THEIR_RIVAL, theirs, "%.1f %%"));
            if (measured) {
                rows.add(row);
            }
        });
        return table(figure, head, rows, rows.isEmpty()
                ? List.of()
                : List.of("Keys and values as a share of the process's growth, and of its whole resident memory."));
    }

    private static String percent(Optional<RunRecord> run, String name) {
        return run.map(each -> number("%.1f %%", WHOLE * each.number(name))).orElse(NONE);
    }

    private PaperTable reclaimCost(Figure figure) {
        List<RunRecord> all = runs(Kind.CLEANER);
        Set<String> policies = new LinkedHashSet<>();
        all.forEach(run -> policies.add(run.group()));
        List<String> head = new ArrayList<>(List.of("load", "open segments"));
        head.addAll(policies);
        head.addAll(List.of("lowest", "highest", "published"));
        List<List<String>> rows = new ArrayList<>();
        for (String workload : workloads(all)) {
            for (boolean one : new boolean[] {true, false}) {
                List<String> row = new ArrayList<>(List.of(workload, one ? "one" : "by lifetime"));
                Map<String, Double> costs = new TreeMap<>();
                for (String policy : policies) {
                    double cost = all.stream()
                            .filter(run -> run.run().workload().equals(workload) && run.group().equals(policy)
                                    && run.settings().containsKey(CleanerText.HEADS) == one)
                            .mapToDouble(run -> run.number(CleanerText.COST)).findFirst().orElse(Double.NaN);
                    row.add(number("%,.1f", cost));
                    if (Double.isFinite(cost)) {
                        costs.put(policy, cost);
                    }
                }
                if (!costs.isEmpty()) {
                    row.add(min(costs));
                    row.add(costs.entrySet().stream().max(Map.Entry.comparingByValue()).orElseThrow().getKey());
                    row.add(NONE);
                    rows.add(row);
                }
            }
        }
        return table(figure, head, rows, rows.isEmpty()
                ? List.of()
                : List.of(
                        "ReclaimCost is the sum of u over the cleaned segments (equation 2). The paper has one open segment."));
    }

    private PaperTable delay(Figure figure) {
        List<String> head = new ArrayList<>(List.of("set", "request"));
        List<RunRecord> all = runs(Kind.PAPER_REQUESTS);
        List<String> servers = servers(all);
        for (String server : servers) {
            head.addAll(List.of(server + ", mean µs", "p50", "p95", "p99", "p99.9"));
        }
        head.add("mean, Varve / Redis");
        addPublished(head, "µs");
        List<List<String>> rows = new ArrayList<>();
        for (RunRecord run : all) {
            for (String test : RequestsText.tests(run)) {
                if (!RequestsText.isSingle(test)) {
                    continue;
                }
                List<String> row = new ArrayList<>(List.of(run.run().workload(), test));
                for (String server : servers) {
                    for (String metric : List.of(RequestsText.MEAN, RequestsText.P50, RequestsText.P95,
                            RequestsText.P99, RequestsText.P999)) {
                        row.add(number("%.2f", RequestsText.number(run, metric, test, server)));
                    }
                }
                row.add(number("%.2f",
                        RequestsText.number(run, RequestsText.MEAN, test, RequestsText.OVER_RIVAL)));
                addPublished(row, figure, run.run().workload() + " " + test, "%.2f");
                rows.add(row);
            }
        }
        return table(figure, head, rows, List.of());
    }

    private PaperTable throughput(Figure figure) {
        List<String> head = new ArrayList<>(List.of("set", "load"));
        List<RunRecord> all = runs(Kind.PAPER_REQUESTS);
        List<String> servers = servers(all);
        servers.forEach(server -> head.add(server + ", requests/s"));
        head.add("Varve / Redis");
        servers.forEach(server -> head.add(server + ", CPU µs/request"));
        head.add("Varve / Redis");
        servers.forEach(server -> head.add(server + ", CPU %"));
        head.add("Varve in process, µs/request");
        addPublished(head, "requests/s");
        List<List<String>> rows = new ArrayList<>();
        for (RunRecord run : all) {
            for (String test : RequestsText.tests(run)) {
                if (RequestsText.isSingle(test)) {
                    continue;
                }
                List<String> row = new ArrayList<>(List.of(run.run().workload(), test));
                addAll(row, run, test, RequestsText.OPS, servers, "%,.0f");
                row.add(number("%.2f", RequestsText.number(run, RequestsText.OPS, test, RequestsText.OVER_RIVAL)));
                addAll(row, run, test, RequestsText.CPU, servers, "%.2f");
                row.add(number("%.2f", RequestsText.number(run, RequestsText.CPU, test, RequestsText.OVER_RIVAL)));
                addAll(row, run, test, RequestsText.BUSY, servers, "%.0f");
                row.add(number("%.3f", run.number(RequestsText.IN_PROCESS + " " + test)));
                addPublished(row, figure, run.run().workload() + " " + test, "%,.0f");
                rows.add(row);
            }
        }
        return table(figure, head, rows, rows.isEmpty()
                ? List.of()
                : List.of(
                        "If a server's CPU is below 100 %, the generator's core limits both servers. Compare the CPU time "
                                + "per request then."));
    }

    private static void addAll(List<String> row, RunRecord run, String test, String metric, List<String> servers,
            String format) {
        servers.forEach(server -> row.add(number(format, RequestsText.number(run, metric, test, server))));
    }

    /** Our servers, and the rival that alternates with them. */
    private List<String> servers(List<RunRecord> of) {
        List<String> servers = new ArrayList<>(configurations(of));
        plan.rival().ifPresent(servers::add);
        return servers;
    }

    private static void addPublished(List<String> head, String unit) {
        head.addAll(List.of("published " + THEIRS + ", " + unit, "published " + THEIR_RIVAL + ", " + unit,
                "published Redis++ / Redis"));
    }

    private static void addPublished(List<String> row, Figure figure, String metric, String format) {
        Double ours = value(figure, THEIRS, metric);
        Double rival = value(figure, THEIR_RIVAL, metric);
        row.add(published(figure, THEIRS, metric, format));
        row.add(published(figure, THEIR_RIVAL, metric, format));
        row.add(ours == null || rival == null ? NONE : number("%.2f", ours / rival));
    }

    private PaperTable cacheMisses(Figure figure) {
        List<String> notes = new ArrayList<>();
        List<RunRecord> all = runs(Kind.PAPER_REQUESTS);
        Set<String> functions = new LinkedHashSet<>();
        List<Published> published = figure.published() == null ? List.of() : figure.published();
        published.forEach(each -> functions.add(each.metric()));
        String prefix = RequestsText.MISSES_PERCENT + " ";
        String suffix = " " + plan.rival().orElse(THEIR_RIVAL);
        for (RunRecord run : all) {
            run.measured().keySet().stream().filter(name -> name.startsWith(prefix) && name.endsWith(suffix))
                    .forEach(name -> functions.add(name.substring(prefix.length(), name.length() - suffix.length())));
            notes.addAll(ownParts(run));
            for (String server : servers(all)) {
                double perOp = RequestsText.number(run, RequestsText.MISSES_PER_OP, RequestsText.READ, server);
                if (Double.isFinite(perOp)) {
                    notes.add(run.run().workload() + ", " + server + ": " + number("%.2f", perOp)
                            + " cache misses per read");
                }
            }
        }
        all.stream().map(run -> run.load().get(RequestsText.NO_MISSES)).filter(Objects::nonNull).distinct()
                .forEach(why -> notes.add("This machine cannot count cache misses: " + why + "."));
        all.stream().map(run -> run.load().get(RequestsText.SIMULATED)).filter(Objects::nonNull).distinct()
                .forEach(how -> notes.add("The misses are SIMULATED, not counted: " + how + ". Varve's are of the"
                        + " recorded addresses of its index and items in the same cache, Redis's of the whole"
                        + " process."));
        all.stream().map(run -> run.load().get(RequestsText.NOT_SIMULATED)).filter(Objects::nonNull).distinct()
                .forEach(why -> notes.add("They are not simulated either: " + why + "."));
        List<String> head = new ArrayList<>(List.of("function of Redis", "published, %"));
        all.forEach(run -> head.add(run.run().workload() + ", measured, %"));
        List<List<String>> rows = new ArrayList<>();
        for (String function : functions) {
            List<String> row = new ArrayList<>(List.of(function, published(figure, THEIR_RIVAL, function, "%.1f")));
            all.forEach(run -> row.add(number("%.1f", run.number(prefix + function + suffix))));
            rows.add(row);
        }
        return table(figure, head, all.isEmpty() ? List.of() : rows, notes);
    }

    /** The parts of our own misses, which have other names than the functions of Redis. */
    private static List<String> ownParts(RunRecord run) {
        String prefix = RequestsText.MISSES_PERCENT + " ";
        String suffix = " " + run.run().configuration();
        String parts = run.measured().entrySet().stream()
                .filter(each -> each.getKey().startsWith(prefix) && each.getKey().endsWith(suffix))
                .map(each -> each.getKey().substring(prefix.length(), each.getKey().length() - suffix.length()) + " "
                        + number("%.1f", each.getValue()) + " %")
                .collect(Collectors.joining(", "));
        return parts.isEmpty()
                ? List.of()
                : List.of(run.run().workload() + suffix + ", cache misses of reads by part: " + parts);
    }

    private static String published(Figure figure, String group, String metric, String format) {
        Double value = value(figure, group, metric);
        return value == null ? "not printed" : number(format, value);
    }

    /** The value that the paper prints; null if it prints none. */
    public static @Nullable Double value(Figure figure, String group, String metric) {
        List<Published> published = figure.published();
        return published == null
                ? null
                : published.stream().filter(each -> each.group().equals(group) && each.metric().equals(metric))
                        .map(Published::mean).filter(Objects::nonNull).findFirst().orElse(null);
    }

    private static String number(String format, double value) {
        return Double.isFinite(value) ? String.format(Locale.ROOT, format, value) : NONE;
    }
}
