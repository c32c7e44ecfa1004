package io.varve.experiments.run.ycsb;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;

import io.varve.experiments.definition.Experiment.Server;
import io.varve.experiments.definition.Experiment.Size;
import io.varve.experiments.plan.PenaltyLoad;
import io.varve.experiments.plan.Plan;
import io.varve.experiments.result.Percent;
import io.varve.experiments.result.ResponseTimes;
import io.varve.experiments.result.ResponseTimes.Mean;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.result.RunMetrics;
import io.varve.experiments.result.RunRecord;
import io.varve.experiments.result.RunRecord.Check;
import io.varve.experiments.result.table.PenaltyText;
import io.varve.experiments.run.context.RunContext;
import io.varve.experiments.run.load.Latencies;
import io.varve.experiments.server.PollingIdle;
import io.varve.experiments.server.ProcessUsage;
import io.varve.experiments.server.Target;
import io.varve.experiments.wire.RespConnection;
import io.varve.experiments.wire.ServerInfo;
import org.HdrHistogram.Histogram;
import site.ycsb.WorkloadException;

/**
 * Runs YCSB against a server in front of two databases, as the penalty paper does (section 6.3): it records the
 * response times, the misses and their cost. Confined to the thread that does the run.
 */
public final class PenaltyRun {
    private static final double MICRO = 1e6;
    private static final double HALF = 0.5;
    /**
     * Minimum number of operations for a verdict on the aims. With fewer the server has learnt costs and curves for
     * only a part of the second half, and a difference may be noise.
     */
    private static final long AIMS_MIN_OPERATIONS = 50_000;
    /**
     * The heap of a client and both databases with their caches. Collections pause all clients; with a young generation
     * of the usual size, which grows with the heap, they took 3 to 6 % of the time.
     */
    private static final List<String> HEAP = List.of("-Xmx4g", "-Xmn1g");
    private static final double MAX_PERCENTILE = 99.99;
    private static final String DATABASES = "varve.db.dir";
    private static final List<String> SIDES = List.of("LOCAL", "REMOTE");
    private static final List<String> CALLS = List.of("READ", "SCAN", "UPDATE", "INSERT");
    /** The printed names of a database's numbers, and ours. */
    private static final Map<String, String> OF_DATABASE = Map.of(
            "SimulatedDelayAsked(us)", "simulated_delay_asked_us",
            "SimulatedDelayMeasured(us)", "simulated_delay_measured_us",
            "SimulatedDelayLongest(us)", "simulated_delay_longest_us",
            "OwnTime(us)", "database_own_us",
            "MissPenalty(us)", "miss_penalty_us",
            "Fetches", "fetches",
            "Writes", "writes");

    /** The figures of INFO that are summed over several servers. */
    private static final List<String> SUMMED = List.of("maxmemory", "used_memory", "used_memory_peak", "live_bytes",
            "index_bytes", "keyspace_hits", "keyspace_misses", "evicted_keys");

    private final RunContext context;
    private final Size size;
    private final PenaltyLoad load;
    private final List<RunRecord> others;
    private final LoadedDatabases databases;
    private final YcsbProcess ycsb;
    /** The server's final number of keys, if it evicts and demotes none to flash; else 0. */
    private long keysHeld;

    /** @param others earlier runs of this cell */
    public PenaltyRun(RunContext context, LoadedDatabases databases, List<RunRecord> others) {
        this.context = context;
        this.databases = databases;
        this.others = others;
        size = context.plan.size(context.run);
        load = context.plan.penalty(context.run);
        ycsb = new YcsbProcess(context.directory, context.pinning.load(), context.gauge, HEAP);
        context.load.putAll(properties());
    }

    public void measure() throws IOException {
        Files.deleteIfExists(context.directory.resolve(RunFiles.YCSB_TXT));
        if (!databases.areThere()) {
            context.phase("load the databases", this::loadDatabases);
        }
        if (databases.areThere()) {
            context.phase("copy the databases", databases::restore);
        }
        context.phase("operations", this::runWithPollingCores);
    }

    /**
     * Compares the measurements with the optimum for a server that holds as many keys, where that can be computed. It
     * measures nothing.
     */
    public void compare() throws IOException {
        Map<String, String> properties = operationProperties();
        if (keysHeld > 0 && BestDivision.isFor(properties)) {
            context.phase("simulate fixed divisions of the memory", () -> simulateDivisions(properties));
        }
    }

    private void simulateDivisions(Map<String, String> properties) {
        try {
            BestDivision.Result best = new BestDivision(properties, Math.toIntExact(keysHeld))
                    .simulate(_ -> !context.cancellation.isCancelled());
            if (!context.cancellation.isCancelled()) {
                context.metrics.put(PenaltyText.UNDIVIDED_SECONDS, best.undividedSeconds());
                context.metrics.put(PenaltyText.BEST_SECONDS, best.bestSeconds());
                context.metrics.put(PenaltyText.BEST_SHARE, best.remoteShare());
            }
        } catch (WorkloadException e) {
            context.faults.add("simulation of fixed divisions: " + e.getMessage());
        }
    }

    private void loadDatabases() throws IOException {
        databases.clear();
        Map<String, String> properties = new LinkedHashMap<>(context.load);
        properties.put(DATABASES, databases.loaded().toString());
        YcsbOutput output = ycsb.run("load", client("-load"), properties, context.cancellation);
        if (context.cancellation.isCancelled()) {
            return;
        }
        judge("load", output, size.records());
        if (context.faults.isEmpty()) {
            databases.markLoaded();
        }
    }

    /**
     * Runs the operations with polling idle cores. A client waits for the server and for databases, and neither keeps
     * its core busy, so a core's wake-up time must not count as a penalty.
     */
    private void runWithPollingCores() throws IOException {
        try (PollingIdle idle = context.plan.scale().embedded()
                ? PollingIdle.withoutRequest()
                : PollingIdle.request()) {
            context.load.put(PenaltyText.IDLE_CORES, idle.state());
            operations();
        }
    }

    private void operations() throws IOException {
        boolean tracked = "yes".equals(context.plan.configuration(context.run).settings().get("penalty-tracking"));
        if (tracked) {
            // Each server sees its part of the accesses.
            String window = String.valueOf(load.window(size.operations() / context.target.members().size()));
            context.load.put("mrc-window", window);
            for (Target each : context.target.members()) {
                execute(each, "CONFIG", "SET", "mrc-window", window);
            }
        }
        ServerInfo before = info("info-before.txt");
        long used = cpuMicros();
        Path histograms = Files.createDirectories(context.directory.resolve("histograms"));
        context.gauge.done(0);
        YcsbOutput output = tracked
                ? watched(forOperations(histograms))
                : ycsb.run("operations", client("-t"), forOperations(histograms), context.cancellation);
        if (context.cancellation.isCancelled()) {
            return;
        }
        judge("operations", output, size.operations());
        ServerInfo after = info("info-after.txt");
        if (output.operations() > 0 && context.target.pid().isPresent()) {
            context.metrics.put(RunMetrics.CPU_PER_OPERATION,
                    (double) (cpuMicros() - used) / output.operations());
        }
        context.metrics.put("operations", output.operations());
        context.metrics.put(RunMetrics.THROUGHPUT, output.number("OVERALL Throughput(ops/sec)"));
        Histogram all = Latencies.collect(histograms, context.directory, false, context.metrics);
        if (all.getTotalCount() > 0) {
            context.metrics.put(PenaltyText.P9999, all.getValueAtPercentile(MAX_PERCENTILE));
        }
        putClient(output);
        putIntervals(intervals());
        putServer(before, after, tracked);
        judgeAims();
    }

    /** Runs the operations while classes and curves are sampled. */
    private YcsbOutput watched(Map<String, String> properties) throws IOException {
        PenaltyWatch watch = PenaltyWatch.start(context, size.operations());
        YcsbOutput output;
        try {
            output = ycsb.run("operations", client("-t"), properties, context.cancellation);
        } finally {
            watch.close();
        }
        String fault = watch.fault();
        if (fault != null) {
            context.faults.add(fault);
        }
        return output;
    }

    private Map<String, String> forOperations(Path histograms) {
        Map<String, String> properties = operationProperties();
        properties.put("hdrhistogram.fileoutput", "true");
        properties.put("hdrhistogram.output.path", histograms + "/");
        properties.put("measurement.interval", "op");
        return properties;
    }

    /** The properties of the operations, and the databases' delays. */
    private Map<String, String> operationProperties() {
        Map<String, String> properties = new LinkedHashMap<>(context.load);
        properties.keySet().removeAll(List.of("mrc-window", PenaltyText.IDLE_CORES));
        Map<String, String> own = context.plan.configuration(context.run).client();
        if (own != null) {
            properties.putAll(own);
            own.forEach(context.load::put);
        }
        if (Double.isFinite(load.stress())) {
            properties.put("varve.stress.after-operations",
                    String.valueOf(Math.round(load.stress() * size.operations())));
        }
        return properties;
    }

    private void judge(String phase, YcsbOutput output, long expected) {
        output.badReturns().forEach((name, count) -> context.faults.add(phase + ": " + count + " times " + name));
        if (output.returns().isEmpty()) {
            context.faults.add(phase + ": YCSB reports no operation; see ycsb.txt");
        } else if (output.operations() < expected) {
            context.faults.add(phase + ": " + output.operations() + " of " + expected + " operations");
        }
    }

    /** Records the final output of YCSB and its binding. */
    private void putClient(YcsbOutput output) {
        Mean calls = Mean.NONE;
        Mean reads = Mean.NONE;
        for (String name : CALLS) {
            Mean mean = printed(output, name);
            calls = calls.plus(mean);
            reads = name.equals("READ") || name.equals("SCAN") ? reads.plus(mean) : reads;
            if (mean.count() > 0) {
                context.metrics.put(name.toLowerCase(Locale.ROOT) + "_call_mean_us", mean.micros());
            }
        }
        put(PenaltyText.RESPONSE, calls);
        put(PenaltyText.READ, reads);
        double hits = output.number("CACHE-ASIDE Hits");
        double misses = output.number("CACHE-ASIDE Misses");
        context.metrics.put(PenaltyText.HITS, hits / (hits + misses));
        context.metrics.put(PenaltyText.MISSES, misses);
        Mean penalties = printed(output, "MISS-PENALTY");
        context.metrics.put(PenaltyText.MISS_SECONDS, penalties.count() * penalties.micros() / MICRO);
        context.metrics.put(PenaltyText.MISS_DELAY_SECONDS, SIDES.stream()
                .mapToDouble(side -> output.number("DATABASE-" + side + " Fetches")
                        * output.number("DATABASE-" + side + " SimulatedDelayAsked(us)"))
                .sum() / MICRO);
        for (String side : SIDES) {
            OF_DATABASE.forEach((theirs, ours) -> context.metrics.put(
                    PenaltyText.ofDatabase(side.toLowerCase(Locale.ROOT), ours),
                    output.number("DATABASE-" + side + " " + theirs)));
        }
        context.metrics.put(PenaltyText.STRESS_AT, output.number("STRESS OperationsBefore"));
        context.metrics.put("fills_unhinted", output.number("CACHE-ASIDE FillsUnhinted"));
        if (Double.isFinite(load.stress()) && Double.isNaN(output.number("STRESS OperationsBefore"))) {
            context.faults.add("operations: the remote delay was not increased as planned");
        }
    }

    private static Mean printed(YcsbOutput output, String name) {
        double count = output.number(name + " Operations");
        double micros = output.number(name + " AverageLatency(us)");
        return count > 0 && Double.isFinite(micros) ? new Mean((long) count, micros) : Mean.NONE;
    }

    private void put(String name, Mean mean) {
        if (mean.count() > 0) {
            context.metrics.put(name, mean.micros());
        }
    }

    /** Parses the status lines of the operations, the last phase of ycsb.txt; writes them to response.csv. */
    private List<ResponseTimes> intervals() throws IOException {
        List<ResponseTimes> intervals = new ArrayList<>();
        for (String line : Files.readAllLines(context.directory.resolve(RunFiles.YCSB_TXT))) {
            if (line.startsWith("## ")) {
                intervals.clear();
            } else {
                ResponseTimes.of(line).ifPresent(intervals::add);
            }
        }
        StringBuilder csv = new StringBuilder(ResponseTimes.CSV_HEADER + "\n");
        intervals.forEach(each -> csv.append(each.csv()).append('\n'));
        Files.writeString(context.directory.resolve(RunFiles.RESPONSE_CSV), csv.toString());
        return intervals;
    }

    private void putIntervals(List<ResponseTimes> intervals) {
        List<ResponseTimes> settled = ResponseTimes.between(intervals, HALF, 1);
        put(PenaltyText.SETTLED, ResponseTimes.calls(settled));
        Mean reads = ResponseTimes.reads(settled);
        put(PenaltyText.READ_SETTLED, reads);
        if (reads.count() > 0) {
            context.metrics.put(PenaltyText.HITS_SETTLED,
                    1 - (double) ResponseTimes.misses(settled).count() / reads.count());
        }
        if (Double.isFinite(load.stress())) {
            put(PenaltyText.BEFORE_STRESS, ResponseTimes.calls(ResponseTimes.between(intervals, 0, load.stress())));
            put(PenaltyText.AFTER_STRESS, ResponseTimes.calls(ResponseTimes.between(intervals, load.stress(), 1)));
        }
    }

    private void putServer(ServerInfo before, ServerInfo after, boolean tracked) {
        after.number("maxmemory").ifPresent(bytes -> context.metrics.put(PenaltyText.LIMIT, bytes));
        context.metrics.put("used_memory_before_bytes", before.number("used_memory").orElse(0));
        context.metrics.put("used_memory_after_bytes", after.number("used_memory").orElse(0));
        for (String name : List.of("keyspace_hits", "keyspace_misses", "evicted_keys")) {
            context.metrics.put("server_" + name,
                    (double) after.number(name).orElse(0) - before.number(name).orElse(0));
        }
        if (tracked) {
            PenaltyText.OF_INFO.forEach(
                    name -> after.decimal(name).ifPresent(value -> context.metrics.put(name, value)));
        }
        if (context.plan.configuration(context.run).server() != Server.VARVE) {
            return;
        }
        if ("yes".equals(context.plan.configuration(context.run).settings().get("demand-cycles"))) {
            context.checks.add(Check.atLeast("demotions of a class in its valley",
                    after.number(PenaltyText.DUMPS).orElse(0), 1));
            context.checks.add(
                    Check.atLeast("loads of a class after its valley", after.number(PenaltyText.LOADS).orElse(0), 1));
        }
        if (Plan.evictsNothing(context.plan.configuration(context.run))) {
            // Its items and their index: without the free space of segments and tables.
            context.metrics.put(PenaltyText.SET_BYTES,
                    after.number("live_bytes").orElse(0) + after.number("index_bytes").orElse(0));
            context.metrics.put(PenaltyText.SET_KEYS, after.keys());
            context.checks.add(Check.atMost("keys that the server without eviction evicted",
                    after.number("evicted_keys").orElse(0), 0));
            return;
        }
        for (RunRecord other : others) {
            if (other.measured().containsKey(PenaltyText.SET_KEYS)) {
                context.metrics.put(PenaltyText.KEYS_SHARE, after.keys() / other.number(PenaltyText.SET_KEYS));
            }
        }
        context.checks.add(Check.atMost("peak used_memory over maxmemory, bytes",
                after.number("used_memory_peak").orElse(0) - after.number("maxmemory").orElse(0), 0));
        boolean demotes = context.plan.configuration(context.run).settings().containsKey("flash-dir");
        keysHeld = demotes ? 0 : after.keys();
        String removedKeys = demotes ? "flash_written" : "evicted_keys";
        context.checks.add(Check.atLeast(demotes ? "keys that were demoted to flash" : RunRecord.KEYS_EVICTED,
                (double) after.number(removedKeys).orElse(0) - before.number(removedKeys).orElse(0), 1));
    }

    /** The paper's target applies to its policy only. */
    private void judgeAims() {
        double mine = context.metrics.asMap().getOrDefault(PenaltyText.SETTLED, Double.NaN);
        if (!"allkeys-penalty".equals(context.plan.configuration(context.run).settings().get("maxmemory-policy"))) {
            return;
        }
        long otherwise = others.stream().filter(other -> PenaltyText.WAITING.stream()
                .anyMatch(name -> !Objects.equals(other.load().get(name), context.load.get(name)))).count();
        context.checks
                .add(Check.atMost("compared runs with other cores, clients or databases", otherwise, 0));
        for (RunRecord other : others) {
            Double aim = load.aims().get(other.run().configuration());
            double theirs = other.number(PenaltyText.SETTLED);
            if (aim != null && Double.isFinite(mine) && Double.isFinite(theirs)) {
                Check check = Check.atLeast(PenaltyText.AIM + other.run().configuration(),
                        Percent.reduction(theirs, mine), aim);
                context.checks.add(size.operations() >= AIMS_MIN_OPERATIONS
                        ? check
                        : check.notAsserted("fewer than 50,000 operations, too few to learn the costs"));
            }
        }
    }

    private ServerInfo info(String file) throws IOException {
        StringBuilder texts = new StringBuilder();
        List<ServerInfo> servers = new ArrayList<>();
        for (Target each : context.target.members()) {
            String text = execute(each, "INFO", "everything");
            texts.append(text);
            servers.add(ServerInfo.parse(text));
        }
        Files.writeString(context.directory.resolve(file), texts);
        return servers.size() == 1 ? servers.getFirst() : ServerInfo.total(servers, SUMMED);
    }

    private static String execute(Target server, String... words) throws IOException {
        try (RespConnection connection = new RespConnection(server.host(), server.port())) {
            return connection.call(words);
        }
    }

    /** CPU time of the servers that clients use; 0 if it is unknown. */
    private long cpuMicros() throws IOException {
        long sum = 0;
        for (Target each : context.target.members()) {
            sum += each.pid().isPresent() ? ProcessUsage.cpuMicros(each) : 0;
        }
        return sum;
    }

    private List<String> client(String phase) {
        return List.of(phase, "-threads", String.valueOf(context.run.threads()));
    }

    private Map<String, String> properties() {
        Map<String, String> properties = new LinkedHashMap<>(load.client());
        properties.put("recordcount", String.valueOf(size.records()));
        properties.put("operationcount", String.valueOf(size.operations()));
        properties.put("varve.host", context.target.host());
        properties.put("varve.port", String.valueOf(context.target.port()));
        if (context.target.members().size() > 1) {
            properties.put("varve.members", context.target.members().stream()
                    .map(each -> each.host() + ":" + each.port()).collect(Collectors.joining(",")));
        }
        properties.put(DATABASES, databases.used().toString());
        properties.put("status.interval", "1");
        properties.put("hdrhistogram.percentiles", "50,95,99,99.9,99.99");
        return properties;
    }
}
