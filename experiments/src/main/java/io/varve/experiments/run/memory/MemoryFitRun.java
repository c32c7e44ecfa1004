package io.varve.experiments.run.memory;

import java.io.IOException;
import java.util.Map;
import java.util.SplittableRandom;

import io.varve.experiments.definition.Experiment.Size;
import io.varve.experiments.plan.ByteSizes;
import io.varve.experiments.result.RunRecord.Check;
import io.varve.experiments.result.Sample;
import io.varve.experiments.run.context.Monitor;
import io.varve.experiments.run.context.RunContext;
import io.varve.experiments.run.load.SetBatch;
import io.varve.experiments.wire.RespConnection;

/**
 * Fills a server with small items until all are stored or the server refuses. Confined to the thread that does the run.
 *
 * <p>A refusal is a result, not a failure of the run: the question is how many items fit.
 */
public final class MemoryFitRun {
    private static final int BATCH = 1000;

    private final RunContext context;
    private final Size size;
    private final Map<String, String> workload;
    private long accepted;
    private long refused;

    public MemoryFitRun(RunContext context) {
        this.context = context;
        this.size = context.plan.size(context.run);
        this.workload = context.plan.experiment().workloads().getOrDefault(context.run.workload(), Map.of());
        if (size.records() > SetBatch.MAX_KEYS) {
            throw new IllegalArgumentException("records " + size.records() + ": expected 1 to " + SetBatch.MAX_KEYS);
        }
        context.load.put("items", String.valueOf(size.records()));
        context.load.putAll(workload);
    }

    public void measure() throws IOException {
        context.phase("fill", this::fill);
        context.phase("wait", () -> context.pause(size.seconds() * 1000L));
        if (!context.cancellation.isCancelled() && !context.isFailed()) {
            conclude();
        }
    }

    private void fill() throws IOException {
        int min = Integer.parseInt(workload.getOrDefault("value-bytes-min", "8"));
        int max = Integer.parseInt(workload.getOrDefault("value-bytes-max", "16"));
        SplittableRandom random = new SplittableRandom(context.plan.experiment().seed());
        SetBatch batch = new SetBatch(BATCH, max);
        long start = System.nanoTime();
        try (RespConnection connection = new RespConnection(context.target.host(), context.target.port())) {
            int records = (int) size.records();
            for (int next = 0; next < records && refused == 0 && !context.cancellation.isCancelled()
                    && !context.isFailed();) {
                for (int end = Math.min(records, next + BATCH); next < end; next++) {
                    batch.set(next, random.nextInt(min, max + 1));
                }
                int sent = batch.count();
                int failed = batch.exchange(connection, this::error);
                refused += failed;
                accepted += sent - failed;
                context.gauge.set(accepted * 1e9 / (System.nanoTime() - start));
            }
        }
        context.metrics.put("load_throughput_ops", accepted * 1e9 / (System.nanoTime() - start));
        context.gauge.set(0);
    }

    private void error(String message) {
        if (!message.startsWith("OOM") && context.faults.isEmpty()) {
            context.faults.add("error reply: " + message);
        }
    }

    private void conclude() throws IOException {
        context.metrics.put("items_accepted", accepted);
        context.checks.add(Check.atMost("refused items", size.records() - accepted, 0));
        Monitor monitor = context.monitor;
        if (monitor == null || monitor.samples().isEmpty()) {
            return;
        }
        long maxmemory = ByteSizes.parse(context.plan.maxmemory());
        long over = Long.parseLong(workload.getOrDefault("limit-rss-over-maxmemory-mb", "256")) << 20;
        context.checks.add(Check.atMost("peak resident bytes (maxmemory and " + (over >> 20) + " MB)",
                monitor.samples().stream().mapToLong(Sample::usedMemoryRss).max().orElse(0), maxmemory + over));
        context.checks.add(Check.atMost("peak used_memory, bytes (maxmemory)",
                monitor.samples().stream().mapToLong(Sample::usedMemory).max().orElse(0), maxmemory));
        long heap = monitor.samples().getLast().heapUsed();
        if (heap >= 0) {
            context.checks.add(Check.atMost("peak heap in use, bytes (96 MB)",
                    monitor.samples().stream().mapToLong(Sample::heapUsed).max().orElse(0), 96L << 20));
        }
    }
}
