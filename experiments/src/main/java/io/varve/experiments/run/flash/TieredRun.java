package io.varve.experiments.run.flash;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.concurrent.TimeUnit;

import io.varve.experiments.definition.Experiment.Server;
import io.varve.experiments.definition.Experiment.Size;
import io.varve.experiments.plan.KeyDistribution;
import io.varve.experiments.plan.RequestSet;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.result.RunMetrics;
import io.varve.experiments.result.RunRecord.Check;
import io.varve.experiments.result.table.TieredText;
import io.varve.experiments.run.context.RunContext;
import io.varve.experiments.run.load.ClosedLoop;
import io.varve.experiments.server.ProcessUsage;
import io.varve.experiments.wire.RespConnection;
import io.varve.experiments.wire.ServerInfo;
import org.HdrHistogram.Histogram;

/**
 * Measures a cache in front of a database: clients read, and write the keys that they do not find. Confined to the
 * thread that does the run. The server holds a part of the keys in memory, and more on flash if it has a flash tier.
 */
public final class TieredRun {
    private static final double MICRO = 1000;
    private static final int ALL_READS = 100;
    /** The clock ends the load, not a number of requests. */
    private static final long NO_LIMIT = Long.MAX_VALUE;

    private final RunContext context;
    private final RequestSet set;
    private final Size size;
    private final KeyDistribution keys;
    private final long seed;

    public TieredRun(RunContext context) {
        this.context = context;
        set = context.plan.requests(context.run);
        size = context.plan.size(context.run);
        long count = context.plan.keys(context.run);
        keys = new KeyDistribution(set.distributions().getFirst(), count);
        seed = context.plan.experiment().seed();
        context.load.putAll(context.plan.workload(context.run));
        context.load.put("keys", String.valueOf(count));
        context.load.put("bytes-of-all", String.format(Locale.ROOT, "%.0f",
                count * (set.keyBytes() + set.meanValueBytes())));
        context.load.put("warm-up-seconds", String.valueOf(size.warmupSeconds()));
        context.load.put("seconds", String.valueOf(size.seconds()));
    }

    public void measure() throws IOException {
        try (ClosedLoop clients = new ClosedLoop(context.target, set.connections(), set, seed, context.cancellation)) {
            context.phase("warm up", () -> run(clients, seed, size.warmupSeconds()));
            if (context.cancellation.isCancelled() || context.isFailed()) {
                return;
            }
            ServerInfo before = info();
            long used = ProcessUsage.cpuMicros(context.target);
            ClosedLoop.Result[] result = new ClosedLoop.Result[1];
            context.phase("measure", () -> result[0] = run(clients, seed + 1, size.seconds()));
            if (!context.cancellation.isCancelled() && !context.isFailed()) {
                conclude(result[0], before, info(), ProcessUsage.cpuMicros(context.target) - used);
            }
        }
    }

    private ClosedLoop.Result run(ClosedLoop clients, long from, int seconds) throws IOException {
        return clients.run(new ClosedLoop.Mix(ALL_READS, keys, from, true, 1), NO_LIMIT,
                TimeUnit.SECONDS.toNanos(seconds));
    }

    private ServerInfo info() throws IOException {
        try (RespConnection connection = new RespConnection(context.target.host(), context.target.port())) {
            return ServerInfo.parse(connection.call("INFO", "everything"));
        }
    }

    private void conclude(ClosedLoop.Result result, ServerInfo before, ServerInfo after, double serverMicros)
            throws IOException {
        Histogram delays = result.delays();
        context.metrics.put(TieredText.HITS, 1 - (double) result.missed() / result.reads());
        context.metrics.put(RunMetrics.THROUGHPUT, result.ops());
        context.metrics.put(TieredText.P50, delays.getValueAtPercentile(50) / MICRO);
        context.metrics.put(TieredText.P99, delays.getValueAtPercentile(99) / MICRO);
        context.metrics.put("latency_p999_us", delays.getValueAtPercentile(99.9) / MICRO);
        context.metrics.put(RunMetrics.CPU_PER_OPERATION, serverMicros / result.requests());
        try (PrintStream out = new PrintStream(Files.newOutputStream(context.directory.resolve(RunFiles.LATENCY_HGRM)),
                false, StandardCharsets.US_ASCII)) {
            delays.outputPercentileDistribution(out, MICRO);
        }
        boolean varve = context.plan.configuration(context.run).server() == Server.VARVE;
        if (varve) {
            context.checks.add(Check.atMost("peak used_memory over maxmemory, bytes",
                    after.number("used_memory_peak").orElse(0) - after.number("maxmemory").orElse(0), 0));
            context.checks.add(Check.atMost("peak resident bytes over maxmemory (256 MB)",
                    ProcessUsage.peakResidentBytes(context.target) - (double) after.number("maxmemory").orElse(0),
                    256L << 20));
        }
        if (varve && !after.text("flash_items").isEmpty()) {
            concludeFlash(result, before, after);
        }
    }

    private void concludeFlash(ClosedLoop.Result result, ServerInfo before, ServerInfo after) {
        double device = difference("flash_device_bytes_written", before, after);
        double hits = difference("flash_hits", before, after);
        context.metrics.put(TieredText.FLASH_HITS, hits / result.reads());
        context.metrics.put("flash_items", after.number("flash_items").orElse(0));
        context.metrics.put(TieredText.WRITTEN, device);
        context.metrics.put(TieredText.WRITTEN_PER_REQUEST, device / result.requests());
        context.metrics.put(TieredText.AMPLIFICATION,
                device / Math.max(1, difference("flash_record_bytes_written", before, after)));
        context.metrics.put(TieredText.SHED, difference("flash_shed", before, after));
        context.metrics.put("flash_evictions", difference("flash_evictions", before, after));
        context.metrics.put(TieredText.POLICY_RAM, after.number("flash_policy_ram").orElse(0));
        OptionalDouble slow = after.decimal("flash_read_p99_us");
        context.metrics.put(TieredText.FLASH_P99, slow.orElse(Double.NaN));
        context.checks
                .add(Check.atMost("times that the whole flash tier was dropped",
                        after.number("flash_given_up").orElse(0), 0));
        context.checks
                .add(Check.atMost("damaged records on flash", after.number("flash_corrupt").orElse(0), 0));
    }

    private static double difference(String field, ServerInfo before, ServerInfo after) {
        return (double) after.number(field).orElse(0) - before.number(field).orElse(0);
    }
}
