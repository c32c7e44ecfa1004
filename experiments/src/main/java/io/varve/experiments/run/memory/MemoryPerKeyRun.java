package io.varve.experiments.run.memory;

import java.io.IOException;
import java.util.Map;
import java.util.SplittableRandom;

import io.varve.experiments.definition.Experiment.Server;
import io.varve.experiments.result.RunRecord.Check;
import io.varve.experiments.run.context.RunContext;
import io.varve.experiments.run.load.SetBatch;
import io.varve.experiments.server.ProcessUsage;
import io.varve.experiments.wire.RespConnection;
import io.varve.experiments.wire.RespErrorException;
import io.varve.experiments.wire.ServerInfo;

/**
 * Measures the resident memory of a key: the difference of the process's resident bytes with and without the keys,
 * divided by their number. Confined to the thread that does the run.
 *
 * <p>A warm-up does the same load and flushes it, so that code, heap and connection buffers exist already. Memory that
 * the process keeps from the warm-up is reported separately, since it would be missing in the difference.
 */
public final class MemoryPerKeyRun {
    private static final int BATCH = 500;
    private static final int KEY_DIGITS = 8;
    private static final int TTL_SECONDS = 3600;
    private static final long POLL_MILLIS = 500;
    private static final long MAX_WAIT_MILLIS = 120_000;
    /** Resident memory has settled while consecutive polls differ by less than this. */
    private static final long STILL_BYTES = 1 << 20;
    /** Maximum memory that a JVM may have taken for code, classes and heap during its warm-up. */
    private static final double MAX_WARM_BYTES = 128 << 20;

    /** Bytes a key: a larger difference means that the warm-up's memory was not released. */
    private static final double MAX_HIDDEN_BYTES = 1;

    private final RunContext context;
    private final Map<String, String> workload;
    private final int keys;
    private final int keyBytes;
    private final int minBytes;
    private final int maxBytes;
    private final boolean ttl;
    /** How long resident memory must be stable. */
    private final long stillMillis;

    public MemoryPerKeyRun(RunContext context) {
        this.context = context;
        this.workload = context.plan.workload(context.run);
        this.keys = Math.toIntExact(context.plan.keys(context.run));
        this.keyBytes = Integer.parseInt(workload.getOrDefault("key-bytes", "8"));
        this.minBytes = Integer.parseInt(workload.getOrDefault("value-bytes-min", "8"));
        this.maxBytes = Integer.parseInt(workload.getOrDefault("value-bytes-max", "16"));
        this.ttl = Boolean.parseBoolean(workload.getOrDefault("ttl", "false"));
        this.stillMillis = Math.max(POLL_MILLIS, context.plan.size(context.run).seconds() * 1000L);
        context.load.putAll(workload);
        context.load.put("keys", String.valueOf(keys));
    }

    public void measure() throws IOException {
        long[] resident = new long[3];
        long[] used = new long[1];
        try (RespConnection connection = new RespConnection(context.target.host(), context.target.port())) {
            context.phase("start", () -> resident[0] = settled());
            context.phase("warm up", () -> fill(connection));
            context.phase("flush", () -> {
                awaitRehash(connection);
                connection.call("FLUSHALL");
                resident[1] = settled();
                used[0] = usedMemory(connection);
            });
            context.phase("fill", () -> fill(connection));
            context.phase("rehash", () -> {
                awaitRehash(connection);
                resident[2] = settled();
            });
            if (!context.cancellation.isCancelled() && !context.isFailed()) {
                conclude(connection, resident[0], resident[1], resident[2], used[0]);
            }
        }
    }

    private void fill(RespConnection connection) throws IOException {
        SplittableRandom random = new SplittableRandom(context.plan.experiment().seed());
        SetBatch batch = new SetBatch(BATCH, maxBytes, "k".repeat(keyBytes - KEY_DIGITS), KEY_DIGITS);
        long start = System.nanoTime();
        for (int next = 0; next < keys && !context.cancellation.isCancelled() && !context.isFailed();) {
            for (int end = Math.min(keys, next + BATCH); next < end; next++) {
                int valueBytes = random.nextInt(minBytes, maxBytes + 1);
                if (ttl) {
                    batch.setFor(next, valueBytes, TTL_SECONDS);
                } else {
                    batch.set(next, valueBytes);
                }
            }
            int failed = batch.exchange(connection, message -> {
                if (context.faults.isEmpty()) {
                    context.faults.add("error reply: " + message);
                }
            });
            if (failed > 0) {
                context.faults.add(failed + " error replies in one batch");
            }
            context.gauge.set(next * 1e9 / (System.nanoTime() - start));
        }
        context.metrics.put("load_throughput_ops", keys * 1e9 / (System.nanoTime() - start));
        context.gauge.set(0);
    }

    /** Waits until resident memory is stable. @return bytes */
    private long settled() throws IOException {
        long last = ProcessUsage.residentBytes(context.target);
        long end = context.elapsedMillis() + MAX_WAIT_MILLIS;
        for (long still = 0; still < stillMillis && context.elapsedMillis() < end && !context.cancellation.isCancelled()
                && !context.isFailed();) {
            context.pause(POLL_MILLIS);
            long now = ProcessUsage.residentBytes(context.target);
            still = Math.abs(now - last) < STILL_BYTES ? still + POLL_MILLIS : 0;
            last = now;
        }
        return last;
    }

    private void awaitRehash(RespConnection connection) throws IOException {
        long end = context.elapsedMillis() + MAX_WAIT_MILLIS;
        boolean hurried = false;
        while (isRehashing(connection)) {
            if (context.cancellation.isCancelled() || context.isFailed()) {
                return;
            }
            if (context.elapsedMillis() > end) {
                context.faults.add("a rehash did not end within " + MAX_WAIT_MILLIS / 1000 + " s");
                return;
            }
            if (!hurried) {
                // Redis spends a millisecond on an idle rehash in each of hz cycles: at 10 a large table takes minutes.
                connection.call("CONFIG", "SET", "hz", "500");
                hurried = true;
            }
            context.pause(POLL_MILLIS);
        }
        if (hurried) {
            connection.call("CONFIG", "SET", "hz", "10");
        }
    }

    private static boolean isRehashing(RespConnection connection) throws IOException {
        var ours = ServerInfo.parse(connection.call("INFO")).number("index_rehash_in_progress");
        if (ours.isPresent()) {
            return ours.getAsLong() != 0;
        }
        try {
            return connection.call("DEBUG", "HTSTATS", "0").contains("rehashing target");
        } catch (RespErrorException e) {
            throw new IOException("the state of the rehash is unknown: start the server with enable-debug-command "
                    + "local: " + e.getMessage(), e);
        }
    }

    private static long usedMemory(RespConnection connection) throws IOException {
        return ServerInfo.parse(connection.call("INFO", "memory")).number("used_memory").orElse(0);
    }

    private void conclude(RespConnection connection, long fresh, long before, long after, long usedBefore)
            throws IOException {
        long there = Long.parseLong(connection.call("DBSIZE"));
        if (there != keys) {
            context.faults.add(there + " keys instead of " + keys);
            return;
        }
        double perKey = (double) (after - before) / keys;
        context.metrics.put("keys", keys);
        context.metrics.put("resident_fresh_bytes", fresh);
        context.metrics.put("resident_before_bytes", before);
        context.metrics.put("resident_after_bytes", after);
        context.metrics.put("resident_bytes_per_key", perKey);
        context.metrics.put("resident_bytes_per_key_from_fresh", (double) (after - fresh) / keys);
        double usedPerKey = (double) (usedMemory(connection) - usedBefore) / keys;
        context.metrics.put("used_memory_bytes_per_key", usedPerKey);
        // Pages that the process kept from the warm-up and fills again are not in the difference, which is then too
        // small.
        context.checks.add(Check.atMost("used_memory per key above resident bytes per key",
                usedPerKey - perKey, MAX_HIDDEN_BYTES));
        String limit = workload.get("limit-bytes-per-key");
        if (limit != null && context.plan.configuration(context.run).server() == Server.VARVE) {
            context.checks.add(Check.atMost("resident bytes per key", perKey, Double.parseDouble(limit)));
            context.checks.add(Check.atMost("resident bytes that remain of the warm-up after FLUSHALL",
                    before - fresh, MAX_WARM_BYTES));
        }
    }
}
