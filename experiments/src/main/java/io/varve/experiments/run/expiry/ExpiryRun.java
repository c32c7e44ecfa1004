package io.varve.experiments.run.expiry;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

import io.varve.experiments.definition.Experiment.Size;
import io.varve.experiments.plan.ByteSizes;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.result.RunRecord.Check;
import io.varve.experiments.run.context.RunContext;
import io.varve.experiments.run.load.SetBatch;
import io.varve.experiments.wire.RespConnection;
import io.varve.experiments.wire.ServerInfo;
import org.jspecify.annotations.Nullable;

/**
 * Writes very many items with TTLs, and counts every second how many are expired but still stored. The ledger is
 * guarded by {@code lock}: the load holds it for a batch, the counter for a count, so that neither sees half a batch.
 *
 * <p>Expiry times are absolute (PXAT), so the ledger knows them to the millisecond.
 */
public final class ExpiryRun {
    private static final int BATCH = 500;
    private static final int BACKGROUND_BATCH = 100;
    /** Longer than any run: load, two maximum TTLs, and a slow server. */
    private static final int SPAN_MILLIS = 900_000;
    private static final int CYCLE_MILLIS = 100;
    private static final int DEFAULT_BASE_MILLIS = 1000;
    /** Tolerance for a sample's own duration and for clocks with a resolution of 1 ms. */
    private static final int SLACK_MILLIS = 5;

    private final RunContext context;
    private final Size size;
    private final int keys;
    private final int valueBytes;
    private final List<Integer> ttls;
    private final int backgroundRate;
    private final long limitWindowMillis;
    private final ExpiryLedger ledger;
    private final Object lock = new Object();
    private volatile boolean counting = true;
    private volatile @Nullable String counterFault;
    private long peakDead;
    private double peakDeadPercent;
    private int samplesOverLimit;
    private double worstOverLimit;
    private int samples;

    public ExpiryRun(RunContext context) {
        this.context = context;
        this.size = context.plan.size(context.run);
        if (size.records() > SetBatch.MAX_KEYS) {
            throw new IllegalArgumentException("records " + size.records() + ": expected 1 to " + SetBatch.MAX_KEYS);
        }
        this.keys = (int) size.records();
        this.valueBytes = context.plan.experiment().recordBytes();
        this.ttls = context.run.ttls();
        var workload = context.plan.experiment().workloads().getOrDefault(context.run.workload(), java.util.Map.of());
        this.backgroundRate = Integer.parseInt(workload.getOrDefault("background-rate", "0"));
        int base = Integer.parseInt(context.plan.configuration(context.run).settings()
                .getOrDefault("expire-bucket-base-ms", String.valueOf(DEFAULT_BASE_MILLIS)));
        this.limitWindowMillis = base + 2L * CYCLE_MILLIS + SLACK_MILLIS;
        this.ledger = new ExpiryLedger(keys, System.currentTimeMillis(), SPAN_MILLIS);
        context.load.put("items", String.valueOf(keys));
        context.load.put("value-bytes", String.valueOf(valueBytes));
        context.load.put("ttls", context.run.ttlText());
        context.load.put("background-rate", String.valueOf(backgroundRate));
        context.load.put("pipeline", String.valueOf(BATCH));
    }

    public void measure() throws IOException {
        long before = usedMemory();
        Thread counter = Thread.ofPlatform().daemon().name("expiry-counter").start(this::count);
        SplittableRandom random = new SplittableRandom(context.plan.experiment().seed());
        try (RespConnection connection = new RespConnection(context.target.host(), context.target.port())) {
            context.phase("load", () -> load(connection, random));
            context.phase("expire", () -> background(connection, random));
            context.phase("wait", () -> context.pause(lastExpiryMillis() + limitWindowMillis
                    - System.currentTimeMillis()));
        } finally {
            counting = false;
            join(counter);
        }
        if (counterFault != null) {
            context.faults.add("the counter stopped: " + counterFault);
        }
        if (!context.cancellation.isCancelled() && !context.isFailed()) {
            conclude(before);
        }
    }

    private void join(Thread counter) {
        try {
            counter.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            context.cancellation.cancel();
        }
    }

    private long usedMemory() throws IOException {
        try (RespConnection connection = new RespConnection(context.target.host(), context.target.port())) {
            return ServerInfo.parse(connection.call("INFO", "memory")).number("used_memory").orElse(0);
        }
    }

    private long lastExpiryMillis() {
        synchronized (lock) {
            return ledger.lastExpiryMillis();
        }
    }

    private void load(RespConnection connection, SplittableRandom random) throws IOException {
        SetBatch batch = new SetBatch(BATCH, valueBytes);
        long start = System.nanoTime();
        for (int next = 0; next < keys && !context.cancellation.isCancelled() && !context.isFailed();) {
            int end = Math.min(keys, next + BATCH);
            synchronized (lock) {
                long now = System.currentTimeMillis();
                for (; next < end; next++) {
                    write(batch, next, now, random);
                }
                exchange(batch, connection);
            }
            context.gauge.set(next * 1e9 / (System.nanoTime() - start));
        }
        context.metrics.put("load_throughput_ops", keys * 1e9 / (System.nanoTime() - start));
        context.gauge.set(0);
    }

    private void write(SetBatch batch, int key, long nowMillis, SplittableRandom random) {
        long expireAt = nowMillis + 1000L * ttls.get(random.nextInt(ttls.size()));
        batch.setUntil(key, valueBytes, expireAt);
        ledger.put(key, expireAt);
    }

    private void exchange(SetBatch batch, RespConnection connection) throws IOException {
        int failed = batch.exchange(connection, message -> {
            if (context.faults.size() < 3) {
                context.faults.add("error reply: " + message);
            }
        });
        if (failed > 0) {
            context.faults.add(failed + " error replies in one batch");
        }
    }

    /** Half reads, half writes with a TTL, over all keys, for one maximum TTL; without a rate it only waits. */
    private void background(RespConnection connection, SplittableRandom random) throws IOException {
        long millis = context.run.maxTtlSeconds() * 1000L;
        if (backgroundRate == 0) {
            context.pause(millis);
            return;
        }
        SetBatch batch = new SetBatch(BACKGROUND_BATCH, valueBytes);
        long start = System.nanoTime();
        long periodNanos = TimeUnit.SECONDS.toNanos(1) * BACKGROUND_BATCH / backgroundRate;
        long batches = TimeUnit.MILLISECONDS.toNanos(millis) / periodNanos;
        for (long done = 0; done < batches && !context.cancellation.isCancelled() && !context.isFailed(); done++) {
            long early = start + done * periodNanos - System.nanoTime();
            if (early > 0) {
                java.util.concurrent.locks.LockSupport.parkNanos(early);
            }
            synchronized (lock) {
                long now = System.currentTimeMillis();
                for (int i = 0; i < BACKGROUND_BATCH; i++) {
                    int key = random.nextInt(keys);
                    if (random.nextBoolean()) {
                        batch.get(key);
                    } else {
                        write(batch, key, now, random);
                    }
                }
                exchange(batch, connection);
            }
            context.gauge.set((done + 1) * BACKGROUND_BATCH * 1e9 / (System.nanoTime() - start));
        }
        context.metrics.put("background_throughput_ops",
                batches * BACKGROUND_BATCH * 1e9 / (System.nanoTime() - start));
        context.gauge.set(0);
    }

    private void count() {
        try (RespConnection connection = new RespConnection(context.target.host(), context.target.port());
                BufferedWriter csv = Files.newBufferedWriter(context.directory.resolve(RunFiles.EXPIRY_CSV))) {
            csv.write("elapsed_ms,dbsize,alive,expired_unreclaimed,server_count,limit\n");
            long due = System.nanoTime();
            while (counting) {
                csv.write(countOnce(connection) + "\n");
                csv.flush();
                due += TimeUnit.SECONDS.toNanos(1);
                for (long wait = due - System.nanoTime(); counting && wait > 0; wait = due - System.nanoTime()) {
                    context.cancellation.await(Math.min(100, TimeUnit.NANOSECONDS.toMillis(wait) + 1));
                    if (context.cancellation.isCancelled()) {
                        return;
                    }
                }
            }
        } catch (IOException e) {
            counterFault = e.getMessage() == null ? e.toString() : e.getMessage();
        }
    }

    private String countOnce(RespConnection connection) throws IOException {
        synchronized (lock) {
            long queriedMillis = System.currentTimeMillis();
            long dbsize = Long.parseLong(connection.call("DBSIZE"));
            long now = System.currentTimeMillis();
            // Redis does not know these sections and returns nothing.
            long server = ServerInfo.parse(connection.call("INFO", "varve", "exact"))
                    .number("expired_unreclaimed_items").orElse(-1);
            long alive = ledger.aliveAt(now);
            // The server's own count is exact; DBSIZE less the living items is off by the expirations during the query.
            long dead = server >= 0 ? server : Math.max(0, dbsize - alive);
            // The count was taken during the query: items that had just expired at either end are tolerated.
            long answeredMillis = System.currentTimeMillis();
            long limit = ledger.expiredWithin(answeredMillis, limitWindowMillis + answeredMillis - queriedMillis);
            samples++;
            peakDead = Math.max(peakDead, dead);
            if (dbsize > 0) {
                peakDeadPercent = Math.max(peakDeadPercent, 100.0 * dead / dbsize);
            }
            if (dead > limit) {
                samplesOverLimit++;
                worstOverLimit = Math.max(worstOverLimit, dead - limit);
            }
            return context.elapsedMillis() + "," + dbsize + "," + alive + "," + dead + "," + server + "," + limit;
        }
    }

    private void conclude(long usedBefore) throws IOException {
        try (RespConnection connection = new RespConnection(context.target.host(), context.target.port())) {
            long dbsize = Long.parseLong(connection.call("DBSIZE"));
            long used = ServerInfo.parse(connection.call("INFO", "memory")).number("used_memory").orElse(0);
            context.metrics.put("peak_expired_unreclaimed_items", peakDead);
            context.metrics.put("peak_expired_share_percent", peakDeadPercent);
            context.metrics.put("expiry_samples", samples);
            context.metrics.put("expiry_samples_over_limit", samplesOverLimit);
            context.metrics.put("worst_over_limit_items", worstOverLimit);
            context.metrics.put("final_dbsize", dbsize);
            context.metrics.put("used_memory_before_bytes", usedBefore);
            context.metrics.put("used_memory_after_bytes", used);
            context.checks.add(Check.atMost("samples with more expired items than one BASE and two cycles allow",
                    samplesOverLimit, 0));
            context.checks.add(Check.atMost("DBSIZE after the last TTL", dbsize, 0));
            context.checks.add(Check.atMost("growth of used_memory since the start, bytes (1 % of maxmemory)",
                    used - usedBefore, ByteSizes.parse(context.plan.maxmemory()) / 100.0));
        }
    }
}
