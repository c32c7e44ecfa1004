package io.varve.experiments.run.ycsb;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import io.varve.experiments.definition.Experiment.Size;
import io.varve.experiments.plan.RunSpec;
import io.varve.experiments.result.Percent;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.result.RunMetrics;
import io.varve.experiments.result.RunRecord;
import io.varve.experiments.result.RunRecord.Check;
import io.varve.experiments.result.Sample;
import io.varve.experiments.run.context.Monitor;
import io.varve.experiments.run.context.RunContext;
import io.varve.experiments.run.load.Latencies;
import org.jspecify.annotations.Nullable;

/**
 * One run of YCSB as the paper does it (section 4.2): load, operations, then a wait for one maximum TTL. Confined to
 * the thread that does the run.
 */
public final class YcsbRun {
    private static final String BINDING = "io.varve.ycsb.VarveClient";
    /**
     * Grace period of a time-bounded phase, for a JVM's start on a busy machine. A client that is too slow for the rate
     * is stopped, and this is reported.
     */
    private static final int GRACE_SECONDS = 8;
    /** Delay after the last TTL until a sample is certain. */
    private static final int SAMPLE_SECONDS = 1;
    private static final double MAX_SHORTFALL_PERCENT = 5;

    /** More operations a second than YCSB can do; YCSB sizes its key space by the count, so it is not simply huge. */
    private static final int PROBE_RATE = 200_000;

    private final RunContext context;
    private final Size size;
    private final YcsbProcess ycsb;

    public YcsbRun(RunContext context) {
        this.context = context;
        this.size = context.plan.size(context.run);
        this.ycsb = new YcsbProcess(context.directory, context.pinning.load(), context.gauge,
                YcsbProcess.CLIENT_HEAP);
        context.load.putAll(properties());
    }

    public void measure() throws IOException {
        Files.deleteIfExists(context.directory.resolve(RunFiles.YCSB_TXT));
        context.phase("load", this::load);
        context.phase("operations", this::operations);
        context.phase("wait", () -> context.pause((context.run.maxTtlSeconds() + SAMPLE_SECONDS) * 1000L));
    }

    /** Runs the mix at full speed, after memory has been recorded. */
    public void probe() throws IOException {
        if (size.probeSeconds() == 0) {
            return;
        }
        context.phase("probe", () -> {
            Map<String, String> properties = new LinkedHashMap<>(context.load);
            properties.put("operationcount", String.valueOf((long) size.probeSeconds() * PROBE_RATE));
            properties.put("maxexecutiontime", String.valueOf(size.probeSeconds()));
            YcsbOutput output = ycsb.run("probe, unthrottled, after the memory measurement", client("-t", 0),
                    properties, context.cancellation);
            context.metrics.put(RunMetrics.PROBE_THROUGHPUT, output.number("OVERALL Throughput(ops/sec)"));
        });
    }

    private void load() throws IOException {
        Map<String, String> properties = new LinkedHashMap<>(context.load);
        // Not for the operations: there YCSB uses it as the key space.
        properties.put("insertcount", String.valueOf(size.loadCount()));
        YcsbOutput output = ycsb.run("load", client("-load", size.loadRate()), properties, context.cancellation);
        judge("load", output, size.loadCount());
        context.metrics.put("load_throughput_ops", output.number("OVERALL Throughput(ops/sec)"));
    }

    private void operations() throws IOException {
        Path histograms = Files.createDirectories(context.directory.resolve("histograms"));
        Map<String, String> properties = new LinkedHashMap<>(context.load);
        properties.put("hdrhistogram.fileoutput", "true");
        properties.put("hdrhistogram.output.path", histograms + "/");
        properties.put("measurement.interval", size.rate() > 0 ? "both" : "op");
        if (size.seconds() > 0) {
            properties.put("maxexecutiontime", String.valueOf(size.seconds() + GRACE_SECONDS));
        }
        Sample before = latest();
        YcsbOutput output = ycsb.run("operations", client("-t", size.rate()), properties, context.cancellation);
        Sample after = latest();
        judge("operations", output, size.operationCount());
        context.metrics.put(RunMetrics.THROUGHPUT, output.number("OVERALL Throughput(ops/sec)"));
        context.metrics.put("operations", output.operations());
        if (size.seconds() > 0 && !context.cancellation.isCancelled()) {
            context.checks.add(Check.atMost(RunRecord.SAME_LOAD,
                    Percent.reduction(size.operationCount(), output.operations()), MAX_SHORTFALL_PERCENT));
        }
        output.returns().forEach((name, count) -> context.metrics.put("returns_" + name, count));
        if (before != null && after != null && output.operations() > 0) {
            context.metrics.put(RunMetrics.CPU_PER_OPERATION,
                    (after.cpuSeconds() - before.cpuSeconds()) * 1e6 / output.operations());
        }
        Latencies.collect(histograms, context.directory, size.rate() > 0, context.metrics);
    }

    private @Nullable Sample latest() {
        Monitor monitor = context.monitor;
        return monitor == null ? null : monitor.latest();
    }

    private void judge(String phase, YcsbOutput output, long expected) {
        if (context.cancellation.isCancelled()) {
            return;
        }
        output.badReturns().forEach((name, count) -> context.faults.add(phase + ": " + count + " times " + name));
        if (output.returns().isEmpty()) {
            context.faults.add(phase + ": YCSB reports no operation; see ycsb.txt");
        } else if (output.operations() < expected && phase.equals("load")) {
            context.faults.add("load: " + output.operations() + " of " + expected + " records");
        } else if (output.operations() < expected && size.seconds() == 0) {
            context.faults.add("operations: " + output.operations() + " of " + expected);
        }
    }

    private List<String> client(String phase, int rate) {
        List<String> arguments = new ArrayList<>(
                List.of(phase, "-db", BINDING, "-threads", String.valueOf(context.run.threads())));
        if (rate > 0) {
            arguments.addAll(List.of("-target", String.valueOf(rate)));
        }
        return arguments;
    }

    private Map<String, String> properties() {
        RunSpec run = context.run;
        Map<String, String> properties = new LinkedHashMap<>();
        properties.put("workload", "site.ycsb.workloads.CoreWorkload");
        properties.put("recordcount", String.valueOf(size.records()));
        properties.put("operationcount", String.valueOf(size.operationCount()));
        properties.put("fieldcount", "1");
        properties.put("fieldlength", String.valueOf(context.plan.experiment().recordBytes()));
        properties.putAll(context.plan.experiment().workloads().getOrDefault(run.workload(), Map.of()));
        properties.put("varve.host", context.target.host());
        properties.put("varve.port", String.valueOf(context.target.port()));
        properties.put("varve.key", "binary8");
        properties.put("varve.ttls", run.ttls().stream().map(String::valueOf).collect(Collectors.joining(",")));
        properties.put("varve.ttl.distribution", "uniform");
        properties.put("varve.seed", String.valueOf(context.plan.experiment().seed()));
        properties.put("status.interval", "1");
        properties.put("hdrhistogram.percentiles", "50,95,99,99.9");
        return properties;
    }
}
