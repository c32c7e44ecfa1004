package io.varve.experiments.run.replication;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import io.varve.experiments.definition.Experiment.Size;
import io.varve.experiments.plan.ReplicationLoad;
import io.varve.experiments.plan.ReplicationLoad.Pair;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.run.context.RunContext;
import io.varve.experiments.run.context.ServerStarter;
import io.varve.experiments.run.speed.RedisBenchmark;
import io.varve.experiments.server.OwnCores;

/**
 * Measures replication: writes without and with a replica, a full synchronization under load, and catching up after a
 * cut link. Confined to the thread that does the run.
 *
 * <p>Pairs of servers take turns within a round, and the order changes with each round. Each turn starts new processes.
 * Only one pair runs at a time. The primary has a core, and its replica, the generators and this process share another
 * one.
 */
public final class ReplicationRun {
    private final RunContext context;
    private final ServerStarter primaries;
    private final ServerStarter replicas;
    private final RedisBenchmark generator;
    private final ReplicationLoad load;
    private final Size size;
    private final RoundResults writes;
    private final RoundResults synchronizations;
    private final RoundResults catchUps;

    /**
     * @param primaries starts servers on the server's cores
     * @param replicas starts servers on the load's cores
     */
    public ReplicationRun(RunContext context, ServerStarter primaries, ServerStarter replicas,
            RedisBenchmark generator) {
        this.context = context;
        this.primaries = primaries;
        this.replicas = replicas;
        this.generator = generator;
        load = context.plan.replication(context.run);
        size = context.plan.size(context.run);
        writes = new RoundResults(context.directory.resolve(RunFiles.REPLICATION_WRITES_CSV));
        synchronizations = new RoundResults(context.directory.resolve(RunFiles.REPLICATION_SYNC_CSV));
        catchUps = new RoundResults(context.directory.resolve(RunFiles.REPLICATION_CATCH_UP_CSV));
        context.load.putAll(context.plan.workload(context.run));
        context.load.put("keys", String.valueOf(context.plan.keys(context.run)));
        context.load.put("rounds", String.valueOf(size.repetitions()));
        context.load.put("seconds", String.valueOf(size.seconds()));
        context.load.put("warmup-seconds", String.valueOf(size.warmupSeconds()));
        context.load.put("primary-cores", cores(context.pinning.server()));
        context.load.put("other-cores", cores(context.pinning.load()));
    }

    private static String cores(String cores) {
        return cores.isEmpty() ? "not pinned" : cores;
    }

    public void measure() throws IOException {
        List<Pair> pairs = load.pairs(context.plan.available());
        try (OwnCores _ = OwnCores.take(context.pinning.load())) {
            for (int round = 1; round <= size.repetitions(); round++) {
                for (Pair pair : round % 2 == 1 ? pairs : pairs.reversed()) {
                    measure(round, pair);
                }
            }
        } finally {
            context.gauge.set(0);
            // Of a run that has failed, the rounds before the fault are of use too.
            writes.put(context.metrics);
            synchronizations.put(context.metrics);
            catchUps.put(context.metrics);
        }
        if (!context.cancellation.isCancelled() && !context.isFailed()) {
            check(pairs);
        }
    }

    private void measure(int round, Pair pair) throws IOException {
        String place = pair.name() + ", round " + round + ": ";
        if (pair.primary().equals(pair.replica())) {
            context.phase(place + "writes", () -> {
                try (ServerPair servers = start(round, pair, "writes")) {
                    writes.add(round, pair.name(), new WriteCost(context, servers, generator).measure());
                }
            });
        }
        if (context.cancellation.isCancelled() || context.isFailed()) {
            return;
        }
        try (ServerPair servers = start(round, pair, "sync")) {
            context.phase(place + "full synchronization", () -> synchronizations.add(round, pair.name(),
                    new FullSynchronization(context, servers).measure()));
            context.phase(place + "catching up",
                    () -> catchUps.add(round, pair.name(), new CatchUp(context, servers).measure()));
        }
    }

    private ServerPair start(int round, Pair pair, String part) throws IOException {
        Path directory = Files.createDirectories(
                context.directory.resolve(pair.name() + "-" + part + "-" + round));
        return ServerPair.start(context, primaries, replicas, pair, directory);
    }

    private void check(List<Pair> pairs) {
        int rounds = size.repetitions();
        for (Pair pair : pairs) {
            if (pair.primary().equals(pair.replica())) {
                context.checks.add(ReplicationChecks.isComplete(pair, "writes", writes, rounds));
            }
            context.checks
                    .add(ReplicationChecks.isComplete(pair, "full synchronizations", synchronizations, rounds));
            context.checks.add(ReplicationChecks.isComplete(pair, "catching up", catchUps, rounds));
            context.checks.addAll(ReplicationChecks.of(pair, load, context.metrics));
        }
    }
}
