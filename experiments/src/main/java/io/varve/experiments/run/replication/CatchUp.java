package io.varve.experiments.run.replication;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import io.varve.experiments.plan.ReplicationLoad;
import io.varve.experiments.result.table.ReplicationText;
import io.varve.experiments.run.context.RunContext;
import io.varve.experiments.wire.ServerInfo;

/**
 * Measures how a replica catches up after it was stopped and its link was cut, while clients write. Confined to the
 * thread that does the run.
 */
final class CatchUp {
    private static final long CATCH_UP_SECONDS = 300;
    private static final long POLL_MILLIS = 5;
    /** How long the writes run before the replica is stopped. */
    private static final long LEAD_MILLIS = 1000;

    private final RunContext context;
    private final ServerPair servers;
    private final ReplicationLoad load;
    private final int keys;

    CatchUp(RunContext context, ServerPair servers) {
        this.context = context;
        this.servers = servers;
        load = context.plan.replication(context.run);
        keys = Math.toIntExact(context.plan.keys(context.run));
    }

    /** @return the numbers by name; empty if the run was stopped */
    Map<String, Double> measure() throws IOException {
        ServerInfo before = servers.primaryInfo();
        Map<String, Double> numbers = new LinkedHashMap<>();
        try (SteadyLoad clients = SteadyLoad.start(servers.primary(), load.catchUpRate(), 0, keys,
                load.valueBytes(), context.plan.experiment().seed() + 1)) {
            context.gauge.set(load.catchUpRate());
            context.pause(LEAD_MILLIS);
            if (servers.hasEnded()) {
                return Map.of();
            }
            double seconds = stopAndCatchUp(clients, numbers);
            numbers.put(ReplicationText.CATCH_UP_SECONDS, seconds);
        }
        boolean isEqual = servers.await(POLL_MILLIS, CATCH_UP_SECONDS,
                () -> servers.primaryOffset() == servers.replicaOffset());
        if (servers.hasEnded()) {
            return Map.of();
        }
        ServerInfo after = servers.primaryInfo();
        numbers.put(ReplicationText.PARTIAL, delta(before, after, "sync_partial_ok"));
        numbers.put(ReplicationText.FULL, delta(before, after, "sync_full"));
        boolean isSame = isEqual && DataComparison.isSame(servers.primary(), servers.replica(), keys);
        numbers.put(ReplicationText.DIFFERENT, isSame ? 0.0 : 1.0);
        return numbers;
    }

    /** @return the time until the replica has caught up, s; NaN if it has not */
    private double stopAndCatchUp(SteadyLoad clients, Map<String, Double> numbers) throws IOException {
        servers.suspendReplica();
        long cutAt = servers.primaryOffset();
        long cut = Long.parseLong(servers.atPrimary().call("CLIENT", "KILL", "TYPE", "replica"));
        if (cut != 1) {
            context.faults.add("CLIENT KILL TYPE replica has cut " + cut + " links, expected 1");
        }
        context.pause(TimeUnit.SECONDS.toMillis(load.stoppedSeconds()));
        clients.take();
        numbers.put(ReplicationText.BEHIND, (double) servers.primaryOffset() - cutAt);
        long start = System.nanoTime();
        servers.resumeReplica();
        // The replica's offset is read after the primary's, so it is the same moment's or a later one's.
        boolean hasCaughtUp = servers.await(POLL_MILLIS, CATCH_UP_SECONDS,
                () -> servers.isLinkUp() && isCaughtUp(servers.primaryOffset(), servers.replicaOffset()));
        double seconds = (System.nanoTime() - start) / 1e9;
        numbers.put(ReplicationText.CATCH_UP_OPS, clients.take().replies() / seconds);
        return hasCaughtUp ? seconds : Double.NaN;
    }

    private static boolean isCaughtUp(long primaryBefore, long replicaAfter) {
        return replicaAfter >= primaryBefore;
    }

    private static double delta(ServerInfo before, ServerInfo after, String field) {
        return (double) after.number(field).orElse(0) - before.number(field).orElse(0);
    }
}
