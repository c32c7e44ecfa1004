package io.varve.experiments.run.speed;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.varve.experiments.definition.Experiment.Size;
import io.varve.experiments.plan.ServerVariant;
import io.varve.experiments.result.Cell;
import io.varve.experiments.result.MedianRange;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.result.RunRecord.Check;
import io.varve.experiments.result.TrialResult;
import io.varve.experiments.run.context.RunContext;
import io.varve.experiments.run.load.SequentialLoad;
import io.varve.experiments.server.ProcessUsage;
import io.varve.experiments.server.Target;
import io.varve.experiments.wire.RespConnection;
import io.varve.experiments.wire.ServerInfo;
import org.jspecify.annotations.Nullable;

/**
 * Measures the CPU time per operation of servers that alternate under redis-benchmark, never two at a time. Confined to
 * the thread that does the run.
 *
 * <p>Throughput alone says little if the generator is the slower side; CPU time per operation does not depend on it. A
 * ratio compares measurements within one repetition, which follow each other, so that a temporarily slower machine
 * affects both.
 */
public final class ThroughputRun {
    /** Duration of one measurement of the warm-up. */
    private static final double WARM_TURN_SECONDS = 1;
    /** Number of requests of the first measurements, before a rate is known. */
    private static final int FIRST_REQUESTS = 20_000;
    /** The JIT has settled when a round costs at least this fraction of the previous one. */
    private static final double SETTLED = 0.97;
    /** Maximum wait for that, in multiples of the minimum warm-up. */
    private static final int MAX_WARMUPS = 3;
    private static final double MAX_MISS_PERCENT = 0.1;
    private static final double MAX_SET_EX_OVER_SET = 1.10;

    /**
     * A participant.
     *
     * @param settings set before each of its measurements; none: unchanged
     * @param settle number of uncounted requests before each measurement, which its settings need to take effect; 0:
     *     none
     */
    private record Contestant(String name, Target target, Map<String, String> settings, long settle) {}

    private record Point(MeasuredCommand test, int pipeline) {}

    private final RunContext context;
    private final RedisBenchmark generator;
    private final List<Contestant> contestants = new ArrayList<>();
    private final @Nullable String rival;
    /** The process of the first contestant with other settings; null for none. */
    private final @Nullable Contestant switched;
    private final Map<String, String> workload;
    private final Size size;
    private final long keys;
    private final int connections;
    private final List<Point> points = new ArrayList<>();
    private final List<Point> switchedPoints = new ArrayList<>();
    private final Map<String, Double> rates = new HashMap<>();
    private final List<TrialResult> trials = new ArrayList<>();
    /** The settings that were set last. */
    private Map<String, String> set = Map.of();

    /** @param rival the server that the context's is compared with; null for none */
    public ThroughputRun(RunContext context, @Nullable Target rival, RedisBenchmark generator) {
        this.context = context;
        this.generator = generator;
        this.workload = context.plan.workload(context.run);
        this.size = context.plan.size(context.run);
        this.keys = context.plan.keys(context.run);
        this.connections = Integer.parseInt(workload.getOrDefault("connections", "50"));
        int valueBytes = Integer.parseInt(workload.getOrDefault("value-bytes", "16"));
        addPoints(points, words("tests"), words("pipelines"), valueBytes);
        long settle = Long.parseLong(workload.getOrDefault("settle-requests", "0"));
        ServerVariant other = context.plan.serverVariant(context.run).orElse(null);
        this.contestants.add(new Contestant(context.run.configuration(), context.target,
                other == null ? Map.of() : other.baselineSettings(), settle));
        this.rival = rival == null ? null : context.plan.rival().orElseThrow();
        if (rival != null && this.rival != null) {
            contestants.add(new Contestant(this.rival, rival, Map.of(), settle));
        }
        if (other == null) {
            switched = null;
        } else {
            addPoints(switchedPoints, other.tests(), other.pipelines(), valueBytes);
            switched = new Contestant(other.name(), context.target, other.settings(), settle);
        }
        context.load.putAll(workload);
        context.load.put("keys", String.valueOf(keys));
        context.load.put("repetitions", String.valueOf(size.repetitions()));
        context.load.put("seconds", String.valueOf(size.seconds()));
        String cores = context.pinning.serverCores(
                context.plan.configuration(context.run).eventLoops(), Runtime.getRuntime().availableProcessors());
        context.load.put("server-cores", cores.isEmpty() ? "not pinned" : cores);
        context.load.put("generator-cores", context.pinning.load().isEmpty() ? "not pinned" : context.pinning.load());
    }

    private static void addPoints(List<Point> into, List<String> tests, List<String> pipelines, int valueBytes) {
        for (String test : tests) {
            for (String pipeline : pipelines) {
                into.add(new Point(MeasuredCommand.of(test, valueBytes), Integer.parseInt(pipeline)));
            }
        }
    }

    private List<String> words(String property) {
        String text = workload.getOrDefault(property, "");
        return text.isBlank() ? List.of() : Arrays.asList(text.split(" ", -1));
    }

    public void measure() throws IOException {
        SequentialLoad load = loadOf(points.getFirst().test());
        context.phase("load", () -> load(load));
        for (Contestant contestant : contestants) {
            context.phase("warm up " + contestant.name(), () -> warmUp(contestant));
        }
        try (BufferedWriter csv = Files.newBufferedWriter(context.directory.resolve(RunFiles.THROUGHPUT_CSV))) {
            csv.write(TrialResult.CSV_HEADER + "\n");
            for (int repetition = 1; repetition <= size.repetitions(); repetition++) {
                int number = repetition;
                context.phase("load " + repetition, () -> load(load));
                context.phase("repetition " + repetition, () -> repeat(number, csv));
            }
        }
        if (!context.cancellation.isCancelled() && !context.isFailed()) {
            conclude();
        }
    }

    /** Numbered tests bring their own keys. */
    private static @Nullable SequentialLoad loadOf(MeasuredCommand test) {
        return test.numbered() == null ? new SequentialLoad(test.command()) : null;
    }

    private void load(@Nullable SequentialLoad load) throws IOException {
        if (load == null) {
            return;
        }
        for (Contestant contestant : contestants) {
            load.send(contestant.target(), keys, context);
        }
    }

    private void warmUp(Contestant contestant) throws IOException {
        long start = System.nanoTime();
        double before = Double.POSITIVE_INFINITY;
        int rounds = 0;
        while (!context.cancellation.isCancelled()) {
            double cost = round(contestant, points);
            if (switched != null && contestant.target().equals(switched.target())) {
                cost += round(switched, switchedPoints);
            }
            rounds++;
            double seconds = (System.nanoTime() - start) / 1e9;
            if (seconds >= (double) size.warmupSeconds() * MAX_WARMUPS
                    || seconds >= size.warmupSeconds() && cost >= before * SETTLED) {
                context.metrics.put("warmup_seconds " + contestant.name(), seconds);
                context.metrics.put("warmup_rounds " + contestant.name(), rounds);
                return;
            }
            before = cost;
        }
    }

    /** @return CPU time per operation, summed over the points */
    private double round(Contestant contestant, List<Point> where) throws IOException {
        double cost = 0;
        for (Point point : where) {
            cost += runTimedTrial(0, contestant, point, WARM_TURN_SECONDS).cpuMicrosPerOp();
        }
        return cost;
    }

    private void repeat(int repetition, BufferedWriter csv) throws IOException {
        for (Point point : points) {
            List<Contestant> order = new ArrayList<>(contestants);
            if (switched != null && switchedPoints.contains(point)) {
                order.add(switched);
            }
            for (Contestant contestant : repetition % 2 == 1 ? order : order.reversed()) {
                if (context.cancellation.isCancelled() || context.isFailed()) {
                    return;
                }
                if (contestant.settle() > 0) {
                    runTrial(0, contestant, point, requests(contestant.settle(), connections * point.pipeline()));
                }
                TrialResult trial = runTimedTrial(repetition, contestant, point, size.seconds());
                trials.add(trial);
                csv.write(trial.csv() + "\n");
                csv.flush();
            }
        }
    }

    /** Measures for about this duration, by the rate of the last measurement. */
    private TrialResult runTimedTrial(int repetition, Contestant contestant, Point point, double seconds)
            throws IOException {
        String place = place(contestant, point);
        return runTrial(repetition, contestant, point,
                requests(rates.getOrDefault(place, 0.0) * seconds, connections * point.pipeline()));
    }

    private static String place(Contestant contestant, Point point) {
        return point.test().name() + " " + point.pipeline() + " " + contestant.name();
    }

    private TrialResult runTrial(int repetition, Contestant contestant, Point point, long requests) throws IOException {
        set(contestant);
        String place = place(contestant, point);
        NumberedTest test = point.test().numbered();
        NumberedLoad numbered = test == null
                ? null
                : new NumberedLoad(test, contestant.target(), requests, context.cancellation);
        if (numbered != null) {
            numbered.prepare();
        }
        ServerInfo before = info(contestant);
        long cpuBefore = ProcessUsage.cpuMicros(contestant.target());
        long start = System.nanoTime();
        RedisBenchmark.Result result = numbered != null
                ? numbered.run(connections, point.pipeline())
                : generator.run(contestant.target(), connections, point.pipeline(), keys, requests,
                        point.test().command(), context.cancellation);
        long nanos = System.nanoTime() - start;
        long cpuAfter = ProcessUsage.cpuMicros(contestant.target());
        ServerInfo after = info(contestant);
        rates.put(place, result.ops());
        context.gauge.set(result.ops());
        long errors = delta(before, after, "total_error_replies");
        if (errors > 0) {
            context.faults.add(place + ": " + errors + " error replies");
        }
        return new TrialResult(repetition, point.test().name(), point.pipeline(), contestant.name(), requests,
                result.ops(),
                TrialResult.cpuPerOperation(cpuBefore, cpuAfter, requests), (cpuAfter - cpuBefore) * 1e5 / nanos,
                point.test().reads() ? hitPercent(before, after) : Double.NaN, result.p50Millis(), result.p99Millis());
    }

    private void set(Contestant contestant) throws IOException {
        if (contestant.settings().isEmpty() || contestant.settings().equals(set)) {
            return;
        }
        List<String> command = new ArrayList<>(List.of("CONFIG", "SET"));
        contestant.settings().forEach((name, value) -> command.addAll(List.of(name, value)));
        try (RespConnection connection = connect(contestant)) {
            connection.call(command.toArray(String[]::new));
        }
        set = contestant.settings();
    }

    /** Rounds up to a multiple of what all connections send at once, so that redis-benchmark sends exactly as many. */
    public static long requests(double wanted, int atOnce) {
        long min = wanted > 0 ? (long) Math.ceil(wanted) : FIRST_REQUESTS;
        return Math.max(1, (min + atOnce - 1) / atOnce) * atOnce;
    }

    public static double hitPercent(ServerInfo before, ServerInfo after) {
        long hits = delta(before, after, "keyspace_hits");
        long misses = delta(before, after, "keyspace_misses");
        return hits + misses == 0 ? Double.NaN : 100.0 * hits / (hits + misses);
    }

    private static long delta(ServerInfo before, ServerInfo after, String field) {
        return after.number(field).orElse(0) - before.number(field).orElse(0);
    }

    private static RespConnection connect(Contestant contestant) throws IOException {
        return new RespConnection(contestant.target().host(), contestant.target().port());
    }

    private static ServerInfo info(Contestant contestant) throws IOException {
        try (RespConnection connection = connect(contestant)) {
            return ServerInfo.parse(connection.call("INFO"));
        }
    }

    private void conclude() {
        context.gauge.set(0);
        String ours = context.run.configuration();
        boolean alone = rival == null && switched != null;
        // Without a rival, the process is compared with itself under its variant's settings.
        String other = alone ? ours : rival;
        context.cells.addAll(Cell.of(trials, other, targets(alone ? "limit-switched-" : "limit-")));
        for (Cell cell : context.cells) {
            if (cell.target() != null && cell.ratio() != null) {
                context.checks.add(Check.atMost(cell.title() + ": CPU per operation, share of " + other + "'s",
                        cell.ratio().median(), cell.target()));
            }
        }
        double worst = context.cells.stream().map(Cell::hitPercent).filter(java.util.Objects::nonNull)
                .mapToDouble(Double::doubleValue).min().orElse(100);
        context.checks.add(Check.atMost("maximum of the reads that missed, %", 100 - worst, MAX_MISS_PERCENT));
        for (Point point : points) {
            if (point.test().name().equals("SET-EX")) {
                compareSetEx("SET", point.pipeline(), ours);
                compareSetEx("SET-AS-LONG", point.pipeline(), ours);
            }
        }
        if (switched != null) {
            for (Point point : switchedPoints) {
                List<Double> ratios = Cell.ratios(of(point.test().name(), point.pipeline(), switched.name()),
                        of(point.test().name(), point.pipeline(), ours));
                if (!ratios.isEmpty()) {
                    context.metrics.put("cpu_switched_over_not " + point.test().name() + " " + point.pipeline(),
                            MedianRange.of(ratios).median());
                }
            }
        }
    }

    private void compareSetEx(String with, int pipeline, String ours) {
        List<Double> ratios = Cell.ratios(of("SET-EX", pipeline, ours), of(with, pipeline, ours));
        if (!ratios.isEmpty()) {
            context.checks.add(Check.atMost("SET-EX over " + with + ", pipeline " + pipeline + ": CPU per operation",
                    MedianRange.of(ratios).median(), MAX_SET_EX_OVER_SET));
        }
    }

    private List<TrialResult> of(String test, int pipeline, String contestant) {
        return trials.stream().filter(trial -> trial.test().equals(test) && trial.pipeline() == pipeline
                && trial.contestant().equals(contestant)).toList();
    }

    /** Reads {@code limit-SET: "1.00 0.58 0.33"}, a number for each pipeline. */
    private Map<String, Double> targets(String prefix) {
        Map<String, Double> targets = new LinkedHashMap<>();
        List<String> pipelines = words("pipelines");
        for (String test : words("tests")) {
            List<String> limits = words(prefix + test);
            for (int i = 0; i < Math.min(limits.size(), pipelines.size()); i++) {
                targets.put(test + ", pipeline " + pipelines.get(i), Double.valueOf(limits.get(i)));
            }
        }
        return targets;
    }
}
