package io.varve.experiments.run.replication;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.varve.experiments.definition.Experiment.Size;
import io.varve.experiments.plan.ReplicationLoad;
import io.varve.experiments.result.TrialResult;
import io.varve.experiments.result.table.ReplicationText;
import io.varve.experiments.run.context.RunContext;
import io.varve.experiments.run.speed.MeasuredCommand;
import io.varve.experiments.run.speed.RedisBenchmark;
import io.varve.experiments.run.speed.ThroughputRun;
import io.varve.experiments.server.ProcessUsage;
import io.varve.experiments.wire.ServerInfo;

/**
 * Measures SETs under redis-benchmark at a primary alone, with a replica and alone again, and the replica's lag.
 * Confined to the thread that does the run.
 *
 * <p>The numbers of the primary alone are the means of both measurements, so that a process that becomes faster with
 * time does not make the replica look cheap.
 */
final class WriteCost {
    private static final long LINK_SECONDS = 600;
    private static final long POLL_MILLIS = 20;
    private static final double WARM_TURN_SECONDS = 1;
    /** The CPU time of a SET has settled when it differs by at most this share from that of the previous turn. */
    private static final double SETTLED = 0.03;
    /** Maximum wait for that, in multiples of the minimum warm-up. */
    private static final int MAX_WARMUPS = 3;

    private final RunContext context;
    private final ServerPair servers;
    private final RedisBenchmark generator;
    private final ReplicationLoad load;
    private final Size size;
    private final List<String> command;
    /** Of the last load; 0 before the first one. */
    private double rate;
    private boolean isAttached;

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
        Trial before = warmTrial();
        servers.attach();
        await(servers::isLinkUp, "the replica's link was not up");
        if (servers.hasEnded()) {
            return Map.of();
        }
        isAttached = true;
        Trial replicated = warmTrial();
        if (servers.hasEnded()) {
            return Map.of();
        }
        LagProbe.Result lag = lag();
        checkLink();
        isAttached = false;
        servers.beginDetaching();
        await(servers::isDetached, "the primary did not free the replica and its backlog");
        if (servers.hasEnded()) {
            return Map.of();
        }
        Trial after = warmTrial();
        checkErrors();
        return servers.hasEnded() ? Map.of() : numbers(before, replicated, after, lag);
    }

    private static Map<String, Double> numbers(Trial before, Trial replicated, Trial after, LagProbe.Result lag) {
        Map<String, Double> numbers = new LinkedHashMap<>();
        numbers.put(ReplicationText.ALONE_OPS, (before.ops() + after.ops()) / 2);
        numbers.put(ReplicationText.ALONE_CPU, (before.primaryMicros() + after.primaryMicros()) / 2);
        numbers.put(ReplicationText.ALONE_BEFORE_CPU, before.primaryMicros());
        numbers.put(ReplicationText.ALONE_AFTER_CPU, after.primaryMicros());
        numbers.put(ReplicationText.REPLICATED_OPS, replicated.ops());
        numbers.put(ReplicationText.REPLICATED_CPU, replicated.primaryMicros());
        numbers.put(ReplicationText.REPLICA_CPU, replicated.replicaMicros());
        numbers.put(ReplicationText.LAG_MARKERS, (double) lag.markers());
        numbers.put(ReplicationText.LAG_OPEN, (double) lag.open());
        numbers.put(ReplicationText.LAG_MEDIAN, lag.medianMillis());
        numbers.put(ReplicationText.LAG_P99, lag.p99Millis());
        numbers.put(ReplicationText.LAG_MAX, lag.maxMillis());
        return numbers;
    }

    private void await(ServerPair.Condition condition, String fault) throws IOException {
        if (!servers.await(POLL_MILLIS, LINK_SECONDS, condition) && !servers.hasEnded()) {
            throw new IOException(fault + " within " + LINK_SECONDS + " s");
        }
    }

    /** Each state of the pair has code of its own to compile, so each one has its warm-up. */
    private Trial warmTrial() throws IOException {
        warmUp();
        return trial(size.seconds());
    }

    /** Until the CPU time of a SET has settled: the JIT compiler is done, and the number of requests is known. */
    private void warmUp() throws IOException {
        long start = System.nanoTime();
        double micros = Double.NaN;
        double before = Double.NaN;
        double seconds = 0;
        while (!servers.hasEnded() && (seconds < size.warmupSeconds()
                || !isSettled(before, micros) && seconds < (double) size.warmupSeconds() * MAX_WARMUPS)) {
            before = micros;
            micros = trial(WARM_TURN_SECONDS).primaryMicros();
            seconds = (System.nanoTime() - start) / 1e9;
        }
    }

    /** @param before not a number if there was no turn before */
    static boolean isSettled(double before, double micros) {
        return Math.abs(micros - before) <= SETTLED * before;
    }

    /** A replica that lags gets the rest of the SETs after the load, and the primary's cost of sending it counts. */
    private Trial trial(double seconds) throws IOException {
        awaitReplica();
        long primaryBefore = ProcessUsage.cpuMicros(servers.primary());
        long replicaBefore = ProcessUsage.cpuMicros(servers.replica());
        long requests = send(seconds);
        awaitReplica();
        return new Trial(rate,
                TrialResult.cpuPerOperation(primaryBefore, ProcessUsage.cpuMicros(servers.primary()), requests),
                TrialResult.cpuPerOperation(replicaBefore, ProcessUsage.cpuMicros(servers.replica()), requests));
    }

    /** @return the number of requests */
    private long send(double seconds) throws IOException {
        long requests = ThroughputRun.requests(rate * seconds, load.connections() * load.pipeline());
        RedisBenchmark.Result result = generator.run(servers.primary(), load.connections(), load.pipeline(),
                load.writeKeys(), requests, command, context.cancellation);
        rate = result.ops();
        context.gauge.set(rate);
        return requests;
    }

    private void awaitReplica() throws IOException {
        if (isAttached) {
            // No client writes now. So the primary is asked once, and its CPU time has no part of the wait.
            long offset = servers.primaryOffset();
            await(() -> servers.replicaOffset() >= offset, "the replica did not catch up");
        }
    }

    private LagProbe.Result lag() throws IOException {
        try (LagProbe probe = LagProbe.start(servers.primary(), servers.replica())) {
            send(size.seconds());
            return probe.stop();
        }
    }

    /** A replica that was disconnected would make writes cheaper. */
    private void checkLink() throws IOException {
        ServerInfo info = servers.primaryInfo();
        if (info.number("sync_full").orElse(0) != 1 || info.number("connected_slaves").orElse(0) != 1) {
            context.faults.add("the replica did not stay connected: " + info.text("sync_full")
                    + " full synchronizations, " + info.text("connected_slaves") + " replicas");
        }
    }

    private void checkErrors() throws IOException {
        long errors = servers.primaryInfo().number("total_error_replies").orElse(0);
        if (errors > 0) {
            context.faults.add("SET: " + errors + " error replies");
        }
    }
}
