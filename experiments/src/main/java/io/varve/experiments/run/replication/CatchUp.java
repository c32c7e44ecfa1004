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
    /** How long the writes run before the replica is stopped; not at all in a run without a warm-up. */
    private static final long LEAD_MILLIS = 1000;
    /** The rate of writes while the replica catches up is that of this time at least. */
    private static final long MIN_RATE_MILLIS = 1000;

    private final RunContext context;
    private final ServerPair servers;
    private final ReplicationLoad load;
    private final int keys;
    private long errors;

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
        SteadyLoad clients = SteadyLoad.start(servers.primary(), load.catchUpRate(), 0, keys, load.valueBytes(),
                context.plan.experiment().seed() + 1);
        try (clients) {
            context.gauge.set(load.catchUpRate());
            context.pause(Math.min(LEAD_MILLIS,
                    TimeUnit.SECONDS.toMillis(context.plan.size(context.run).warmupSeconds())));
            if (servers.hasEnded()) {
                return Map.of();
            }
            stopAndCatchUp(clients, numbers);
        }
        take(clients);
        numbers.put(ReplicationText.CATCH_UP_ERRORS, (double) errors);
        boolean isEqual = servers.await(POLL_MILLIS, CATCH_UP_SECONDS,
                () -> servers.primaryOffset() == servers.replicaOffset());
        if (servers.hasEnded()) {
            return Map.of();
        }
        ServerInfo after = servers.primaryInfo();
        numbers.put(ReplicationText.PARTIAL, delta(before, after, "sync_partial_ok"));
        numbers.put(ReplicationText.FULL, delta(before, after, "sync_full"));
        numbers.put(ReplicationText.DIFFERENT, isEqual && isSame() ? 0.0 : 1.0);
        return numbers;
    }

    private boolean isSame() throws IOException {
        DataComparison.Result result = DataComparison.compare(servers.primary(), servers.replica(), keys);
        context.load.put("compared " + servers.name(), result.method());
        return result.isSame();
    }

    private void stopAndCatchUp(SteadyLoad clients, Map<String, Double> numbers) throws IOException {
        servers.suspendReplica();
        long cutAt = servers.primaryOffset();
        long cut = Long.parseLong(servers.atPrimary().call("CLIENT", "KILL", "TYPE", "replica"));
        if (cut != 1) {
            context.faults.add("CLIENT KILL TYPE replica has cut " + cut + " links, expected 1");
        }
        take(clients);
        long stopped = System.nanoTime();
        context.pause(TimeUnit.SECONDS.toMillis(load.stoppedSeconds()));
        long written = take(clients).replies();
        long start = System.nanoTime();
        numbers.put(ReplicationText.STOPPED_OPS, written / seconds(stopped, start));
        numbers.put(ReplicationText.BEHIND, (double) servers.primaryOffset() - cutAt);
        long resumed = System.nanoTime();
        servers.resumeReplica();
        // The replica's offset is read after the primary's, so it is the same moment's or a later one's.
        boolean hasCaughtUp = servers.await(POLL_MILLIS, CATCH_UP_SECONDS,
                () -> servers.isLinkUp() && isCaughtUp(servers.primaryOffset(), servers.replicaOffset()));
        long end = System.nanoTime();
        numbers.put(ReplicationText.CAUGHT_UP, hasCaughtUp ? 1.0 : 0.0);
        numbers.put(ReplicationText.CATCH_UP_SECONDS, hasCaughtUp ? seconds(resumed, end) : Double.NaN);
        // In a few milliseconds the requests of a rate are too few to tell it.
        context.pause(MIN_RATE_MILLIS - TimeUnit.NANOSECONDS.toMillis(end - start));
        written = take(clients).replies();
        numbers.put(ReplicationText.CATCH_UP_OPS, written / seconds(start, System.nanoTime()));
    }

    /** An error of any interval counts. */
    private SteadyLoad.Result take(SteadyLoad clients) throws IOException {
        SteadyLoad.Result result = clients.take();
        errors += result.errors();
        return result;
    }

    private static double seconds(long from, long to) {
        return (to - from) / 1e9;
    }

    private static boolean isCaughtUp(long primaryBefore, long replicaAfter) {
        return replicaAfter >= primaryBefore;
    }

    private static double delta(ServerInfo before, ServerInfo after, String field) {
        return (double) after.number(field).orElse(0) - before.number(field).orElse(0);
    }
}
