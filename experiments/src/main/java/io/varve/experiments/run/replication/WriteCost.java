package io.varve.experiments.run.replication;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.varve.experiments.definition.Experiment.Size;
import io.varve.experiments.plan.ReplicationLoad;
import io.varve.experiments.result.MedianRange;
import io.varve.experiments.result.TrialResult;
import io.varve.experiments.result.table.ReplicationText;
import io.varve.experiments.run.context.RunContext;
import io.varve.experiments.run.speed.MeasuredCommand;
import io.varve.experiments.run.speed.RedisBenchmark;
import io.varve.experiments.run.speed.ThroughputRun;
import io.varve.experiments.server.ProcessUsage;
import io.varve.experiments.wire.ServerInfo;

/**
 * Measures SETs under redis-benchmark at a primary alone and with a replica, and the replica's lag. Confined to the
 * thread that does the run.
 */
final class WriteCost {
    private static final long LINK_SECONDS = 600;
    private static final long POLL_MILLIS = 20;
    private static final double WARM_TURN_SECONDS = 1;
    /** The throughput has settled when it is at most this multiple of the previous one. */
    private static final double SETTLED = 1.1;
    /** Maximum wait for that, in multiples of the minimum warm-up. */
    private static final int MAX_WARMUPS = 3;

    private final RunContext context;
    private final ServerPair servers;
    private final RedisBenchmark generator;
    private final ReplicationLoad load;
    private final Size size;
    private final List<String> command;
    /** Of the last trial; 0 before the first one. */
    private double rate;

    private record Trial(double ops, double primaryMicros, double replicaMicros) {}

    WriteCost(RunContext context, ServerPair servers, RedisBenchmark generator) {
        this.context = context;
        this.servers = servers;
        this.generator = generator;
        load = context.plan.replication(context.run);
        size = context.plan.size(context.run);
        command = MeasuredCommand.of("SET", load.valueBytes()).command();
    }

    /** @return the numbers by name; empty if the run was stopped */
    Map<String, Double> measure() throws IOException {
        warmUp();
        Trial alone = trial(size.seconds());
        servers.attach();
        boolean isUp = servers.await(POLL_MILLIS, LINK_SECONDS, servers::isLinkUp);
        if (servers.hasEnded()) {
            return Map.of();
        }
        if (!isUp) {
            throw new IOException("the replica's link was not up within " + LINK_SECONDS + " s");
        }
        // Both have new code to compile: that of a primary with a replica, and that of a replica.
        warmUp();
        Trial replicated;
        List<Double> lag;
        try (LagProbe probe = LagProbe.start(servers.primary(), servers.replica())) {
            replicated = trial(size.seconds());
            lag = probe.stop();
        }
        checkLink();
        return numbers(alone, replicated, MedianRange.of(lag));
    }

    private static Map<String, Double> numbers(Trial alone, Trial replicated, MedianRange lag) {
        Map<String, Double> numbers = new LinkedHashMap<>();
        numbers.put(ReplicationText.ALONE_OPS, alone.ops());
        numbers.put(ReplicationText.ALONE_CPU, alone.primaryMicros());
        numbers.put(ReplicationText.REPLICATED_OPS, replicated.ops());
        numbers.put(ReplicationText.REPLICATED_CPU, replicated.primaryMicros());
        numbers.put(ReplicationText.REPLICA_CPU, replicated.replicaMicros());
        numbers.put(ReplicationText.LAG_MARKERS, (double) lag.count());
        numbers.put(ReplicationText.LAG_MEDIAN, lag.median());
        numbers.put(ReplicationText.LAG_MAX, lag.max());
        return numbers;
    }

    /** Until the throughput grows no more: a JIT compiler's code settles, and the number of requests is known. */
    private void warmUp() throws IOException {
        long start = System.nanoTime();
        double before;
        double seconds;
        do {
            before = rate;
            trial(WARM_TURN_SECONDS);
            seconds = (System.nanoTime() - start) / 1e9;
        } while (!servers.hasEnded() && (seconds < size.warmupSeconds()
                || rate > before * SETTLED && seconds < (double) size.warmupSeconds() * MAX_WARMUPS));
    }

    private Trial trial(double seconds) throws IOException {
        long requests = ThroughputRun.requests(rate * seconds, load.connections() * load.pipeline());
        long primaryBefore = ProcessUsage.cpuMicros(servers.primary());
        long replicaBefore = ProcessUsage.cpuMicros(servers.replica());
        RedisBenchmark.Result result = generator.run(servers.primary(), load.connections(), load.pipeline(),
                load.writeKeys(), requests, command, context.cancellation);
        rate = result.ops();
        context.gauge.set(rate);
        return new Trial(rate,
                TrialResult.cpuPerOperation(primaryBefore, ProcessUsage.cpuMicros(servers.primary()), requests),
                TrialResult.cpuPerOperation(replicaBefore, ProcessUsage.cpuMicros(servers.replica()), requests));
    }

    /** A replica that was disconnected would make writes cheaper. */
    private void checkLink() throws IOException {
        ServerInfo info = servers.primaryInfo();
        if (info.number("sync_full").orElse(0) != 1 || info.number("connected_slaves").orElse(0) != 1) {
            context.faults.add("the replica did not stay connected: " + info.text("sync_full")
                    + " full synchronisations, " + info.text("connected_slaves") + " replicas");
        }
        long errors = info.number("total_error_replies").orElse(0);
        if (errors > 0) {
            context.faults.add("SET: " + errors + " error replies");
        }
    }
}
