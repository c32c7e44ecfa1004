package io.varve.experiments.run.speed;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

import io.varve.experiments.definition.Experiment.Size;
import io.varve.experiments.plan.ByteSizes;
import io.varve.experiments.plan.KeyDistribution;
import io.varve.experiments.plan.RequestSet;
import io.varve.experiments.result.MedianRange;
import io.varve.experiments.result.RequestTrial;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.result.RunRecord.Check;
import io.varve.experiments.result.table.RequestsText;
import io.varve.experiments.run.context.RunContext;
import io.varve.experiments.run.load.ClosedLoop;
import io.varve.experiments.run.load.InitialLoad;
import io.varve.experiments.server.CachegrindRedis;
import io.varve.experiments.server.OwnCores;
import io.varve.experiments.server.ProcessUsage;
import io.varve.experiments.server.Target;
import io.varve.experiments.wire.RespConnection;
import io.varve.experiments.wire.ServerInfo;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Measures the delay under one client and the throughput under fifty, on a set of redis-plus-plus's Table 4 (its
 * Figures 7 and 8), and cache misses where available (its Table 2). Confined to the thread that does the run.
 *
 * <p>Servers alternate, never two at a time, and get the same requests. Without pipelining the generator needs about as
 * much time for a request as the server, and may limit the throughput. So the server's CPU time per request and its
 * utilization are recorded too.
 */
public final class PaperRequestsRun {
    /** Duration of one measurement of the warm-up. */
    private static final long WARM_TRIAL_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final double NANOS_PER_MICRO = 1000;
    private static final double WHOLE = 100;
    /**
     * Minimum number of measurements for a ratio to be judged: with fewer it is only reported, since it may be noise.
     */
    private static final int JUDGED_FROM = 3;
    private static final int PERF_SECONDS = 2;
    /** Duration of a measurement under perf: longer than perf counts, at both ends. */
    private static final long PERF_TRIAL_NANOS = TimeUnit.MILLISECONDS.toNanos(3500);

    private record Contestant(String name, Target target, ClosedLoop one, ClosedLoop many) {}

    /** A test, which each server runs in turn. */
    private record Test(String name, boolean single, int readPercent, KeyDistribution keys, int pipeline) {}

    /** All measurements of a server at a test. */
    private static final class Series {
        private final List<RequestTrial> trials = new ArrayList<>();
        private final Histogram delays = new Histogram(TimeUnit.SECONDS.toNanos(60), 3);
    }

    private final RunContext context;
    private final @Nullable Target rivalTarget;
    private final @Nullable String rival;
    private final RequestSet set;
    private final Size size;
    private final long keys;
    private final long seed;
    private final List<Test> tests = new ArrayList<>();
    private final Map<String, Series> series = new LinkedHashMap<>();
    private long missed;

    /** @param rival the server that the context's is compared with; null for none */
    public PaperRequestsRun(RunContext context, @Nullable Target rival) {
        this.context = context;
        this.rivalTarget = rival;
        this.rival = rival == null ? null : context.plan.rival().orElseThrow();
        this.set = context.plan.requests(context.run);
        this.size = context.plan.size(context.run);
        this.keys = context.plan.keys(context.run);
        this.seed = context.plan.experiment().seed();
        KeyDistribution unif = new KeyDistribution(KeyDistribution.Kind.UNIF, keys);
        tests.add(new Test(RequestsText.READ, true, 100, unif, 1));
        tests.add(new Test(RequestsText.WRITE, true, 0, unif, 1));
        for (int pipeline : set.pipelines()) {
            for (int readPercent : set.readPercents()) {
                for (KeyDistribution.Kind kind : set.distributions()) {
                    tests.add(new Test(readPercent + " % reads " + kind.title() + RequestsText.ofPipeline(pipeline),
                            false, readPercent,
                            kind == KeyDistribution.Kind.UNIF ? unif : new KeyDistribution(kind, keys), pipeline));
                }
            }
        }
        context.load.putAll(context.plan.workload(context.run));
        context.load.put("keys", String.valueOf(keys));
        context.load.put("mean-value-bytes", String.format(Locale.ROOT, "%.1f", set.meanValueBytes()));
        context.load.put("requests-of-one-client", String.valueOf(size.operations()));
        context.load.put("repetitions", String.valueOf(size.repetitions()));
        context.load.put("seconds", String.valueOf(size.seconds()));
        context.load.put("server-cores", context.pinning.server().isEmpty() ? "not pinned" : context.pinning.server());
        context.load.put("generator-cores", context.pinning.load().isEmpty() ? "not pinned" : context.pinning.load());
    }

    public void measure() throws IOException {
        try (OwnCores _ = OwnCores.take(context.pinning.load());
                Contestants contestants = new Contestants()) {
            for (Contestant contestant : contestants.all) {
                context.phase("load " + contestant.name(), () -> load(contestant));
            }
            context.phase("warm up", () -> warmUp(contestants.all));
            try (BufferedWriter csv = Files.newBufferedWriter(context.directory.resolve(RunFiles.REQUESTS_CSV))) {
                csv.write(RequestTrial.CSV_HEADER + "\n");
                for (int repetition = 1; repetition <= size.repetitions(); repetition++) {
                    int number = repetition;
                    context.phase("repetition " + repetition, () -> repeat(number, contestants.all, csv));
                }
            }
            context.phase("cache misses", () -> countMisses(contestants.all));
            if (set.inProcess()) {
                context.phase("in process", this::measureInProcess);
            }
            if (!context.cancellation.isCancelled() && !context.isFailed()) {
                conclude(contestants.all);
            }
        }
    }

    /** The servers and their clients. */
    private final class Contestants implements AutoCloseable {
        private final List<Contestant> all = new ArrayList<>();

        Contestants() throws IOException {
            try {
                add(context.run.configuration(), context.target);
                if (rival != null && rivalTarget != null) {
                    add(rival, rivalTarget);
                }
            } catch (IOException e) {
                close();
                throw e;
            }
        }

        private void add(String name, Target target) throws IOException {
            ClosedLoop one = new ClosedLoop(target, 1, set, seed, context.cancellation);
            try {
                all.add(new Contestant(name, target, one,
                        new ClosedLoop(target, set.connections(),
                                set.pipelines().stream().mapToInt(Integer::intValue).max().orElse(1), set, seed,
                                context.cancellation)));
            } catch (IOException e) {
                one.close();
                throw e;
            }
        }

        @Override
        public void close() throws IOException {
            for (Contestant contestant : all) {
                contestant.one().close();
                contestant.many().close();
            }
        }
    }

    /** Writes each key once. */
    private void load(Contestant contestant) throws IOException {
        try (RespConnection connection = connect(contestant)) {
            InitialLoad.write(connection, set, seed, keys,
                    () -> context.cancellation.isCancelled() || context.isFailed());
            long there = Long.parseLong(connection.call("DBSIZE"));
            if (there != keys && !context.cancellation.isCancelled()) {
                context.faults.add(contestant.name() + " has " + there + " keys of " + keys + " that were written");
            }
        }
    }

    private void warmUp(List<Contestant> contestants) throws IOException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos((long) size.warmupSeconds() * contestants.size());
        for (int round = 0; System.nanoTime() < end || round == 0; round++) {
            for (Test test : tests) {
                for (Contestant contestant : contestants) {
                    if (context.cancellation.isCancelled() || context.isFailed()) {
                        return;
                    }
                    runTrial(0, test, contestant, Long.MAX_VALUE, WARM_TRIAL_NANOS, round);
                }
            }
        }
    }

    private void repeat(int repetition, List<Contestant> contestants, BufferedWriter csv) throws IOException {
        long single = Math.max(1, size.operations() / size.repetitions());
        for (Test test : tests) {
            for (Contestant contestant : repetition % 2 == 1 ? contestants : contestants.reversed()) {
                if (context.cancellation.isCancelled() || context.isFailed()) {
                    return;
                }
                RequestTrial trial = test.single()
                        ? runTrial(repetition, test, contestant, single, TimeUnit.HOURS.toNanos(1), repetition)
                        : runTrial(repetition, test, contestant, Long.MAX_VALUE,
                                TimeUnit.SECONDS.toNanos(size.seconds()),
                                repetition);
                csv.write(trial.csv() + "\n");
                csv.flush();
            }
        }
    }

    /** @param repetition 0 is the warm-up, which does not count */
    private RequestTrial runTrial(int repetition, Test test, Contestant contestant, long max, long nanos, int draw)
            throws IOException {
        ClosedLoop loop = test.single() ? contestant.one() : contestant.many();
        long cpuBefore = ProcessUsage.cpuMicros(contestant.target());
        ClosedLoop.Result result = loop.run(
                new ClosedLoop.Mix(test.readPercent(), test.keys(), seed + draw).inPipelines(test.pipeline()), max,
                nanos);
        long cpu = ProcessUsage.cpuMicros(contestant.target()) - cpuBefore;
        context.gauge.set(result.ops());
        RequestTrial trial = new RequestTrial(repetition, test.name(), contestant.name(), result.requests(),
                result.missed(), result.ops(), (double) cpu / result.requests(), cpu * 1e5 / result.nanos(),
                result.delays().getMean() / NANOS_PER_MICRO, micros(result.delays(), 50), micros(result.delays(), 99));
        if (repetition > 0) {
            missed += result.missed();
            Series all = series.computeIfAbsent(test.name() + "\0" + contestant.name(), _ -> new Series());
            all.trials.add(trial);
            all.delays.add(result.delays());
        }
        return trial;
    }

    private static double micros(Histogram delays, double percentile) {
        return delays.getValueAtPercentile(percentile) / NANOS_PER_MICRO;
    }

    /** Counts misses under reads of uniformly distributed keys: the paper does not state the load of its Table 2. */
    private void countMisses(List<Contestant> contestants) throws IOException {
        CacheMisses misses = new CacheMisses(CacheMisses.EVENT);
        String unavailable = misses.unavailable();
        if (unavailable != null) {
            context.load.put(RequestsText.NO_MISSES, unavailable);
            simulateMisses();
            return;
        }
        Test test = new Test(RequestsText.READ, false, 100, tests.getFirst().keys(), 1);
        for (Contestant contestant : contestants) {
            OptionalLong pid = contestant.target().pid();
            if (pid.isEmpty()) {
                continue;
            }
            double[] perSecond = new double[1];
            double ops = underLoad(test, contestant,
                    () -> perSecond[0] = misses.perSecond(pid.getAsLong(), PERF_SECONDS));
            context.metrics.put(
                    RequestsText.name(RequestsText.MISSES_PER_OP, RequestsText.READ, contestant.name()),
                    perSecond[0] / ops);
            underLoad(test, contestant, () -> misses
                    .byFunction(pid.getAsLong(), PERF_SECONDS,
                            context.directory.resolve("perf-" + contestant.name() + ".data"))
                    .forEach((function, percent) -> context.metrics.put(
                            RequestsText.name(RequestsText.MISSES_PERCENT, function, contestant.name()), percent)));
        }
    }

    /** Instead of a counter: a simulated cache, for the workload that states the numbers of keys and reads. */
    private void simulateMisses() throws IOException {
        String numbers = context.plan.workload(context.run).get("cachegrind");
        if (numbers == null || rival == null) {
            return;
        }
        Optional<String> unavailable = CachegrindRedis.unavailable();
        if (unavailable.isPresent()) {
            context.load.put(RequestsText.NOT_SIMULATED, unavailable.get());
            return;
        }
        String[] words = numbers.split(" ", -1);
        int simulatedKeys = Integer.parseInt(words[0]);
        long reads = Long.parseLong(words[1]);
        Map<String, Long> ofRival = new SimulatedCacheMisses(set, seed, simulatedKeys, reads, context.cancellation)
                .byFunction(context.directory);
        putMisses(rival, (double) SimulatedCacheMisses.sum(ofRival) / reads, SimulatedCacheMisses.shares(ofRival));
        context.load.put(RequestsText.SIMULATED, "cachegrind, a last-level cache of " + CachegrindRedis.LAST_LEVEL
                + " (bytes, ways, bytes of a line), " + simulatedKeys + " keys, " + reads + " reads");
        traceMisses(simulatedKeys, reads);
    }

    private void traceMisses(int tracedKeys, long reads) {
        try (InProcessRequests requests = new InProcessRequests(set, seed,
                ByteSizes.parse(context.plan.maxmemory(context.run)))) {
            requests.load(tracedKeys);
            Map<String, Double> perRead = TracedCacheMisses.perRead(requests,
                    SimulatedCache.of(CachegrindRedis.LAST_LEVEL), tracedKeys, reads, seed);
            double all = perRead.values().stream().mapToDouble(Double::doubleValue).sum();
            Map<String, Double> percent = new LinkedHashMap<>();
            perRead.forEach((part, misses) -> percent.put(part, WHOLE * misses / all));
            putMisses(context.run.configuration(), all, percent);
        }
    }

    private void putMisses(String server, double perRead, Map<String, Double> percent) {
        context.metrics.put(RequestsText.name(RequestsText.MISSES_PER_OP, RequestsText.READ, server), perRead);
        percent.forEach((part, share) -> context.metrics
                .put(RequestsText.name(RequestsText.MISSES_PERCENT, part, server), share));
    }

    /** Measures the same requests without a server. Nothing else runs meanwhile: the servers are idle. */
    private void measureInProcess() {
        try (InProcessRequests requests = new InProcessRequests(set, seed,
                ByteSizes.parse(context.plan.maxmemory(context.run)))) {
            requests.load(keys);
            for (Test test : tests.stream().filter(each -> !each.single() && each.pipeline() == 1).toList()) {
                requests.run(test.readPercent(), test.keys(), TimeUnit.SECONDS.toNanos(size.seconds()));
                List<Double> times = new ArrayList<>();
                for (int i = 0; i < size.repetitions() && !context.cancellation.isCancelled(); i++) {
                    times.add(requests.run(test.readPercent(), test.keys(), TimeUnit.SECONDS.toNanos(1))
                            / NANOS_PER_MICRO);
                }
                if (!times.isEmpty()) {
                    context.metrics.put(RequestsText.IN_PROCESS + " " + test.name(), MedianRange.of(times).median());
                }
            }
        }
    }

    /** @return requests a second meanwhile */
    private double underLoad(Test test, Contestant contestant, RunContext.Part part) throws IOException {
        IOException[] fault = new IOException[1];
        Thread perf = Thread.ofPlatform().name("perf").start(() -> {
            try {
                part.run();
            } catch (IOException e) {
                fault[0] = e;
            }
        });
        RequestTrial trial = runTrial(0, test, contestant, Long.MAX_VALUE, PERF_TRIAL_NANOS, 0);
        try {
            perf.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while perf was counting", e);
        }
        if (fault[0] != null) {
            throw fault[0];
        }
        return trial.ops();
    }

    private void conclude(List<Contestant> contestants) throws IOException {
        context.gauge.set(0);
        for (Test test : tests) {
            for (Contestant contestant : contestants) {
                put(test, contestant.name());
            }
            if (rival != null) {
                compare(test, rival);
            }
        }
        context.checks.add(Check.atMost("reads that missed", missed, 0));
        for (Contestant contestant : contestants) {
            try (RespConnection connection = connect(contestant)) {
                context.checks.add(Check.atMost("keys that " + contestant.name() + " evicted",
                        ServerInfo.parse(connection.call("INFO", "stats")).number("evicted_keys").orElse(-1), 0));
            }
        }
    }

    private Series series(Test test, String server) {
        Series found = series.get(test.name() + "\0" + server);
        if (found == null) {
            throw new IllegalStateException("no turns of " + server + " at " + test.name());
        }
        return found;
    }

    private void put(Test test, String server) throws IOException {
        Series all = series(test, server);
        put(RequestsText.OPS, test, server, median(all, Quantity.OPS));
        put(RequestsText.CPU, test, server, median(all, Quantity.CPU));
        put(RequestsText.BUSY, test, server, median(all, Quantity.BUSY));
        put(RequestsText.MEAN, test, server, all.delays.getMean() / NANOS_PER_MICRO);
        put(RequestsText.P50, test, server, micros(all.delays, 50));
        put(RequestsText.P95, test, server, micros(all.delays, 95));
        put(RequestsText.P99, test, server, micros(all.delays, 99));
        put(RequestsText.P999, test, server, micros(all.delays, 99.9));
        String file = (test.name() + "_" + server).replaceAll("[^A-Za-z0-9_]+", "-") + ".hgrm";
        try (PrintStream out = new PrintStream(Files.newOutputStream(context.directory.resolve(file)), false,
                StandardCharsets.US_ASCII)) {
            all.delays.outputPercentileDistribution(out, NANOS_PER_MICRO);
        }
    }

    private void put(String metric, Test test, String server, double value) {
        context.metrics.put(RequestsText.name(metric, test.name(), server), value);
    }

    /** A number of a measurement. */
    private enum Quantity {
        OPS, CPU, BUSY, MEAN;

        double of(RequestTrial trial) {
            return switch (this) {
                case OPS -> trial.ops();
                case CPU -> trial.cpuMicrosPerOp();
                case BUSY -> trial.busyPercent();
                case MEAN -> trial.meanMicros();
            };
        }
    }

    private static double median(Series all, Quantity number) {
        return MedianRange.of(all.trials.stream().map(number::of).toList()).median();
    }

    private void compare(Test test, String other) {
        compare(test, other, RequestsText.CPU, Quantity.CPU, "limit-cpu", "CPU per request");
        if (test.single()) {
            compare(test, other, RequestsText.MEAN, Quantity.MEAN, "limit-delay", "mean delay");
        } else {
            compare(test, other, RequestsText.OPS, Quantity.OPS, "limit-throughput", "throughput");
        }
    }

    private void compare(Test test, String other, String metric, Quantity number, String limit, String words) {
        List<RequestTrial> ours = series(test, context.run.configuration()).trials;
        List<RequestTrial> others = series(test, other).trials;
        List<Double> ratios = new ArrayList<>();
        for (int i = 0; i < Math.min(ours.size(), others.size()); i++) {
            double ratio = number.of(ours.get(i)) / number.of(others.get(i));
            if (Double.isFinite(ratio)) {
                ratios.add(ratio);
            }
        }
        if (ratios.isEmpty()) {
            return;
        }
        double ratio = MedianRange.of(ratios).median();
        put(metric, test, RequestsText.OVER_RIVAL, ratio);
        String target = context.plan.workload(context.run).get(limit);
        if (target != null) {
            String what = test.name() + ": " + words + ", share of " + other + "'s";
            Check check = number == Quantity.OPS
                    ? Check.atLeast(what, ratio, Double.parseDouble(target))
                    : Check.atMost(what, ratio, Double.parseDouble(target));
            context.checks.add(ratios.size() >= JUDGED_FROM
                    ? check
                    : check.notAsserted("fewer than " + JUDGED_FROM + " repetitions"));
        }
    }

    private static RespConnection connect(Contestant contestant) throws IOException {
        return new RespConnection(contestant.target().host(), contestant.target().port());
    }
}
