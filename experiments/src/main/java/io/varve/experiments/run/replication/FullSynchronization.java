package io.varve.experiments.run.replication;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import io.varve.experiments.plan.ReplicationLoad;
import io.varve.experiments.result.table.ReplicationText;
import io.varve.experiments.run.context.RunContext;
import io.varve.experiments.run.load.AlternatingLoad;
import io.varve.experiments.server.ProcessUsage;

/**
 * Measures a full synchronization of all keys while clients read and write. Confined to the thread that does the run.
 */
final class FullSynchronization {
    private static final int BATCH = 200;
    private static final long LINK_SECONDS = 600;
    private static final long POLL_MILLIS = 10;
    private static final double MICROS_PER_SECOND = 1e6;

    private final RunContext context;
    private final ServerPair servers;
    private final ReplicationLoad load;
    private final int keys;
    private long peak;

    FullSynchronization(RunContext context, ServerPair servers) {
        this.context = context;
        this.servers = servers;
        load = context.plan.replication(context.run);
        keys = Math.toIntExact(context.plan.keys(context.run));
    }

    /** @return the numbers by name; empty if the run was stopped */
    Map<String, Double> measure() throws IOException {
        fill();
        try (SteadyLoad clients = SteadyLoad.start(servers.primary(), load.syncRate(), load.readPercent(), keys,
                load.valueBytes(), context.plan.experiment().seed())) {
            context.gauge.set(load.syncRate());
            context.pause(TimeUnit.SECONDS.toMillis(context.plan.size(context.run).warmupSeconds()));
            clients.take();
            context.pause(TimeUnit.SECONDS.toMillis(context.plan.size(context.run).seconds()));
            SteadyLoad.Result quiet = clients.take();
            return servers.hasEnded() ? Map.of() : synchronize(clients, quiet);
        }
    }

    private Map<String, Double> synchronize(SteadyLoad clients, SteadyLoad.Result quiet) throws IOException {
        long before = ProcessUsage.residentBytes(servers.primary());
        long cpuBefore = ProcessUsage.cpuMicros(servers.primary());
        long childrenBefore = ProcessUsage.childCpuMicros(servers.primary());
        peak = before;
        long start = System.nanoTime();
        servers.attach();
        boolean isUp = servers.await(POLL_MILLIS, LINK_SECONDS, () -> {
            peak = Math.max(peak, ProcessUsage.residentBytes(servers.primary()));
            return servers.isLinkUp();
        });
        double seconds = (System.nanoTime() - start) / 1e9;
        if (servers.hasEnded()) {
            return Map.of();
        }
        if (!isUp) {
            throw new IOException("the full synchronization did not end within " + LINK_SECONDS + " s");
        }
        long cpu = ProcessUsage.cpuMicros(servers.primary()) - cpuBefore;
        SteadyLoad.Result during = clients.take();
        awaitChild();
        cpu += ProcessUsage.childCpuMicros(servers.primary()) - childrenBefore;
        Map<String, Double> numbers = new LinkedHashMap<>();
        numbers.put(ReplicationText.SYNC_SECONDS, seconds);
        numbers.put(ReplicationText.SYNC_CPU, cpu / MICROS_PER_SECOND);
        numbers.put(ReplicationText.RESIDENT, (double) before);
        numbers.put(ReplicationText.PEAK, (double) peak);
        numbers.put(ReplicationText.COPIED,
                (double) servers.primaryInfo().number("rdb_last_cow_size").orElse(0));
        numbers.put(ReplicationText.QUIET_P50, quiet.p50Micros());
        numbers.put(ReplicationText.QUIET_P99, quiet.p99Micros());
        numbers.put(ReplicationText.QUIET_P999, quiet.p999Micros());
        numbers.put(ReplicationText.QUIET_MAX, quiet.maxMicros());
        numbers.put(ReplicationText.QUIET_REQUESTS, (double) quiet.replies());
        numbers.put(ReplicationText.SYNC_P50, during.p50Micros());
        numbers.put(ReplicationText.SYNC_P99, during.p99Micros());
        numbers.put(ReplicationText.SYNC_P999, during.p999Micros());
        numbers.put(ReplicationText.SYNC_MAX, during.maxMicros());
        numbers.put(ReplicationText.SYNC_LATE, during.lateP999Micros());
        numbers.put(ReplicationText.SYNC_REQUESTS, (double) during.replies());
        numbers.put(ReplicationText.ERRORS, (double) during.errors() + during.missed());
        return numbers;
    }

    /** The system adds the CPU time of a child process to its parent's account when the parent has noted its end. */
    private void awaitChild() throws IOException {
        if (!servers.await(POLL_MILLIS, LINK_SECONDS,
                () -> servers.primaryInfo().number("rdb_bgsave_in_progress").orElse(0) == 0) && !servers.hasEnded()) {
            throw new IOException("the child process did not end within " + LINK_SECONDS + " s");
        }
    }

    private void fill() throws IOException {
        long start = System.nanoTime();
        try (AlternatingLoad writer = new AlternatingLoad(servers.primary(), BATCH, load.valueBytes(),
                SteadyLoad.KEY_PREFIX, SteadyLoad.KEY_DIGITS, this::error)) {
            for (int key = 0; key < keys; key++) {
                writer.batch().set(key, load.valueBytes());
                if (writer.put()) {
                    context.gauge.set(key * 1e9 / (System.nanoTime() - start));
                    if (servers.hasEnded()) {
                        return;
                    }
                }
            }
            writer.finish();
        }
    }

    private void error(String message) {
        if (context.faults.isEmpty()) {
            context.faults.add("error reply while the keys were written: " + message);
        }
    }
}
