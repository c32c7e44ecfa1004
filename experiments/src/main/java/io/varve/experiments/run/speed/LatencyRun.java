package io.varve.experiments.run.speed;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

import io.varve.experiments.definition.Experiment.Server;
import io.varve.experiments.definition.Experiment.Size;
import io.varve.experiments.paced.PacedSettings;
import io.varve.experiments.plan.ByteSizes;
import io.varve.experiments.plan.LatencyLoad;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.result.RunMetrics;
import io.varve.experiments.result.RunRecord;
import io.varve.experiments.result.RunRecord.Check;
import io.varve.experiments.result.table.LatencyText;
import io.varve.experiments.run.context.IdleProcess;
import io.varve.experiments.run.context.PacedProcess;
import io.varve.experiments.run.context.RunContext;
import io.varve.experiments.run.load.AlternatingLoad;
import io.varve.experiments.server.PauseLog;
import io.varve.experiments.server.ProcessUsage;
import io.varve.experiments.wire.RespConnection;
import io.varve.experiments.wire.ServerInfo;
import org.jspecify.annotations.Nullable;

/**
 * Measures latency under a mixed load on a fixed schedule; the store is filled first and then grows, expires and
 * evicts. Confined to the thread that does the run.
 *
 * <p>The counted part begins after a warm-up under the same load. The servers run one after the other, the baseline
 * first.
 */
public final class LatencyRun {
    private static final int BATCH = 400;
    private static final String KEY_PREFIX = "k";
    private static final int KEY_DIGITS = 10;
    /** Pause after the fill, until its consequences have ended. */
    private static final long SETTLE_MILLIS = 2000;
    /** Maximum duration of the core's probe before the load. */
    private static final int PROBE_SECONDS = 10;
    private static final double MAX_MISSING_PERCENT = 0.1;
    private static final double MAX_DISTURBED_PERCENT = 5;
    private static final double MILLI = 1e3;

    private final RunContext context;
    private final @Nullable RunRecord baseline;
    private final Map<String, String> workload;
    private final LatencyLoad load;
    private final Size size;
    private final long keys;
    private final long seed;
    private final boolean varve;

    private @Nullable ServerInfo before;
    private long cpuBefore;
    private long countedFromMillis;

    /** @param baseline the baseline's run; null for none */
    public LatencyRun(RunContext context, @Nullable RunRecord baseline) {
        this.context = context;
        this.baseline = baseline;
        this.workload = context.plan.workload(context.run);
        this.load = context.plan.latency(context.run);
        this.size = context.plan.size(context.run);
        this.keys = context.plan.keys(context.run);
        this.seed = context.plan.experiment().seed();
        this.varve = context.plan.configuration(context.run).server() == Server.VARVE;
        context.load.putAll(workload);
        context.load.put("keys", String.valueOf(keys));
        context.load.put("rate", String.valueOf(size.rate()));
        context.load.put("seconds", String.valueOf(size.seconds()));
        context.load.put("warmup-seconds", String.valueOf(size.warmupSeconds()));
        context.load.put("maxmemory", context.plan.maxmemory(context.run));
        context.load.put("server-cores", context.pinning.server().isEmpty() ? "not pinned" : context.pinning.server());
        context.load.put("generator-cores", context.pinning.load().isEmpty() ? "not pinned" : context.pinning.load());
    }

    public void measure() throws IOException {
        context.target.startSeconds().ifPresent(seconds -> context.metrics.put(LatencyText.START, seconds));
        context.phase("machine", () -> {
            double[] gaps = new PacedProcess(context).probeServersCore(Math.min(PROBE_SECONDS, size.seconds()));
            context.metrics.put(LatencyText.CORE_GAP, gaps[0]);
            context.metrics.put("machine_gaps_over_1_ms_a_second", gaps[1]);
        });
        context.phase("fill", this::fill);
        context.phase("settle", () -> context.pause(SETTLE_MILLIS));
        PacedSettings settings = new PacedSettings(context.target.host(), context.target.port(), load.connections(),
                size.rate(), size.warmupSeconds(), size.seconds(), seed, keys, load.mix(), load.values(),
                load.hashes(), load.fields(), load.ttls(), context.directory);
        context.phase("requests", () -> request(settings));
        if (!context.cancellation.isCancelled() && !context.isFailed()) {
            conclude(System.currentTimeMillis());
        }
    }

    private void request(PacedSettings settings) throws IOException {
        try (IdleProcess idle = IdleProcess.start(context)) {
            new PacedProcess(context).run(settings, () -> {
                prepare();
                idle.reset();
            });
            double[] hiccups = idle.end();
            context.metrics.put(LatencyText.IDLE_HICCUP, hiccups[0]);
            context.metrics.put("idle_hiccups_over_1_ms", hiccups[1]);
        }
    }

    private void fill() throws IOException {
        long start = System.nanoTime();
        try (AlternatingLoad alternating = new AlternatingLoad(context.target, BATCH, load.values().max(), KEY_PREFIX,
                KEY_DIGITS, this::error)) {
            for (int key = 0; key < keys; key++) {
                alternating.batch().set(key, load.values().of(seed, key));
                if (alternating.put()) {
                    context.gauge.set(key * 1e9 / (System.nanoTime() - start));
                    if (context.cancellation.isCancelled() || context.isFailed()) {
                        return;
                    }
                }
            }
            alternating.finish();
        }
        context.metrics.put("fill_ops", keys * 1e9 / (System.nanoTime() - start));
    }

    private void error(String message) {
        if (context.faults.isEmpty()) {
            context.faults.add("error reply: " + message);
        }
    }

    /** Called one second before the counted part begins. */
    private void prepare() throws IOException {
        try (RespConnection connection = new RespConnection(context.target.host(), context.target.port())) {
            // Varve measures its own hiccups from then on; Redis records its periodic tasks that take 1 ms or more.
            connection.call("CONFIG", "SET", "latency-monitor-threshold", "1");
            connection.call("LATENCY", "RESET");
            before = ServerInfo.parse(connection.call("INFO"));
        }
        cpuBefore = ProcessUsage.cpuMicros(context.target);
        countedFromMillis = System.currentTimeMillis();
    }

    private void conclude(long endMillis) throws IOException {
        long cpu = ProcessUsage.cpuMicros(context.target) - cpuBefore;
        ServerInfo after;
        try (RespConnection connection = new RespConnection(context.target.host(), context.target.port())) {
            after = ServerInfo.parse(connection.call("INFO"));
            Files.writeString(context.directory.resolve(RunFiles.LATENCY_EVENTS), connection.call("LATENCY", "LATEST"));
        }
        Map<String, Double> numbers = numbers();
        numbers.forEach(context.metrics::put);
        context.metrics.put(RunMetrics.THROUGHPUT, numbers.getOrDefault("requests", Double.NaN) / size.seconds());
        long commands = delta(after, "total_commands_processed");
        context.metrics.put(RunMetrics.CPU_PER_OPERATION, (double) cpu / commands);
        context.metrics.put("keys_before", before == null ? 0 : before.keys());
        context.metrics.put("keys_after", after.keys());
        context.metrics.put(LatencyText.EXPIRED, delta(after, "expired_keys"));
        context.metrics.put(LatencyText.EVICTED, delta(after, "evicted_keys"));
        context.metrics.put("rehashes", rehashes(after));
        context.metrics.put("peak_resident_bytes", ProcessUsage.peakResidentBytes(context.target));
        checkLoad(numbers);
        if (varve) {
            pauses(after, endMillis);
            checkServer(numbers);
        }
    }

    private Map<String, Double> numbers() throws IOException {
        Map<String, Double> numbers = new HashMap<>();
        for (String line : Files.readAllLines(context.directory.resolve(RunFiles.GENERATOR_TXT))) {
            int equals = line.indexOf('=');
            numbers.put(line.substring(0, equals), Double.parseDouble(line.substring(equals + 1)));
        }
        return numbers;
    }

    private long delta(ServerInfo after, String field) {
        ServerInfo first = before;
        return first == null ? 0 : after.number(field).orElse(0) - first.number(field).orElse(0);
    }

    /**
     * Number of times that a table doubled. Varve reports the size of its indexes. Redis does not, but its table always
     * has as many buckets as the next power of two above the maximum number of keys so far.
     */
    private double rehashes(ServerInfo after) {
        ServerInfo first = before;
        if (first == null) {
            return 0;
        }
        if (varve) {
            return delta(after, "index_bytes") > 0 ? 1 : 0;
        }
        return log2(after.keys()) - log2(first.keys());
    }

    private static int log2(long number) {
        return Long.SIZE - Long.numberOfLeadingZeros(Math.max(1, number - 1));
    }

    /** Checks that the load was as intended, for the baseline too. */
    private void checkLoad(Map<String, Double> numbers) {
        double planned = numbers.getOrDefault("requests_planned", Double.NaN);
        double done = numbers.getOrDefault("requests", Double.NaN);
        context.checks.add(Check.atMost(RunRecord.SAME_LOAD, 100 * (planned - done) / planned, MAX_MISSING_PERCENT));
        context.checks.add(Check.atMost(RunRecord.DISTURBED,
                numbers.getOrDefault("requests_disturbed_percent", Double.NaN), MAX_DISTURBED_PERCENT));
        context.checks.add(Check.atLeast(RunRecord.KEYS_EXPIRED, number(LatencyText.EXPIRED), 1));
        context.checks.add(Check.atLeast(RunRecord.KEYS_EVICTED, number(LatencyText.EVICTED), 1));
        context.checks.add(Check.atLeast(RunRecord.REHASHED, number("rehashes"), 1));
    }

    private double number(String name) {
        return context.metrics.asMap().getOrDefault(name, Double.NaN);
    }

    private void pauses(ServerInfo after, long endMillis) throws IOException {
        // A server that does not report hiccups fails the check.
        OptionalLong hiccup = after.number("hiccup_max_us");
        context.metrics.put(LatencyText.HICCUP, hiccup.isPresent() ? hiccup.getAsLong() / MILLI : Double.NaN);
        context.metrics.put("hiccups_over_1_ms", after.number("hiccups_over_1_ms").orElse(-1));
        Optional<Path> log = context.target.pauseLog();
        if (log.isPresent()) {
            PauseLog counted = PauseLog.read(log.get(), countedFromMillis, endMillis);
            PauseLog sinceStart = PauseLog.read(log.get(), 0, endMillis);
            // There is always one while the server fills: a log without any was not parsed.
            context.metrics.put(LatencyText.JVM_PAUSE,
                    sinceStart.count() == 0 ? Double.NaN : counted.longestMillis());
            context.metrics.put("jvm_pauses", counted.count());
            context.metrics.put("jvm_pauses_total_ms", counted.totalMillis());
            context.metrics.put("jvm_longest_pause_since_start_ms", sinceStart.longestMillis());
            context.load.put("longest-jvm-pause", counted.longestReason());
        }
    }

    private void checkServer(Map<String, Double> numbers) {
        double p999 = numbers.getOrDefault(LatencyText.P999, Double.NaN);
        if (baseline != null) {
            context.metrics.put("latency_p999_over_baseline", p999 / baseline.number(LatencyText.P999));
            context.checks.add(Check.atMost(LatencyText.P999_CHECK + baseline.run().configuration(), p999,
                    baseline.number(LatencyText.P999)));
        }
        context.checks.add(Check.atMost(LatencyText.HICCUP_CHECK, number(LatencyText.HICCUP), limit("pause-ms", 5)));
        context.checks.add(
                Check.atMost(LatencyText.JVM_PAUSE_CHECK, number(LatencyText.JVM_PAUSE), limit("pause-ms", 5)));
        context.checks.add(Check.atMost(LatencyText.START_CHECK, number(LatencyText.START), limit("start-seconds", 1)));
        context.checks.add(Check.atMost("peak resident bytes (maxmemory and 256 MB)", number("peak_resident_bytes"),
                ByteSizes.parse(context.plan.maxmemory(context.run)) + (256 << 20)));
    }

    private double limit(String name, double otherwise) {
        String text = workload.get("limit-" + name);
        return text == null ? otherwise : Double.parseDouble(text);
    }
}
