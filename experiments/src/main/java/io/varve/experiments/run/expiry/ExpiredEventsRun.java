package io.varve.experiments.run.expiry;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

import io.varve.experiments.definition.Experiment.Server;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.result.RunRecord.Check;
import io.varve.experiments.result.table.EventsText;
import io.varve.experiments.run.context.RunContext;
import io.varve.experiments.run.load.SetBatch;
import io.varve.experiments.wire.RespConnection;
import org.HdrHistogram.Histogram;

/**
 * Measures the delay of {@code expired} events: it writes keys with expiry times, and a subscriber records each event.
 * Confined to the thread that does the run, except the subscriber.
 */
public final class ExpiredEventsRun {
    private static final int BATCH = 500;
    private static final int DEFAULT_BASE_MILLIS = 1000;
    private static final int DEFAULT_CYCLE_MILLIS = 100;
    private static final long LONG_MILLIS = TimeUnit.HOURS.toMillis(1);
    private static final long POLL_MILLIS = 50;
    private static final int DIGITS = 3;
    private static final double MILLI = 1000;
    private static final double WHOLE = 100;

    private final RunContext context;
    private final int keys;
    private final int valueBytes;
    private final int fromMillis;
    private final int toMillis;
    private final int oneIn;
    private final int baseMillis;
    private final int cycleMillis;
    /** The expiry time of each key, milliseconds since the epoch; 0 for persistent keys. */
    private final long[] expireAt;
    private int expiring;
    private long lastExpireAt;

    public ExpiredEventsRun(RunContext context) {
        this.context = context;
        keys = Math.toIntExact(context.plan.keys(context.run));
        if (keys > SetBatch.MAX_KEYS) {
            throw new IllegalArgumentException("records " + keys + ": expected 1 to " + SetBatch.MAX_KEYS);
        }
        valueBytes = context.plan.experiment().recordBytes();
        Map<String, String> workload = context.plan.workload(context.run);
        String[] ttls = workload.getOrDefault("ttls", "1-10").split("-", 2);
        fromMillis = 1000 * Integer.parseInt(ttls[0]);
        toMillis = 1000 * Integer.parseInt(ttls[1]);
        oneIn = Integer.parseInt(workload.getOrDefault("one-in", "1"));
        baseMillis = setting("expire-bucket-base-ms", DEFAULT_BASE_MILLIS);
        cycleMillis = setting("expire-cycle-ms", DEFAULT_CYCLE_MILLIS);
        expireAt = new long[keys];
        context.load.putAll(workload);
        context.load.put("keys", String.valueOf(keys));
        context.load.put("value-bytes", String.valueOf(valueBytes));
        context.load.put("base-ms", String.valueOf(baseMillis));
        context.load.put("cycle-ms", String.valueOf(cycleMillis));
    }

    private int setting(String name, int byDefault) {
        return Integer.parseInt(context.plan.configuration(context.run).settings().getOrDefault(name,
                String.valueOf(byDefault)));
    }

    public void measure() throws IOException {
        try (EventListener listener = new EventListener(context.target, keys)) {
            try (RespConnection connection = new RespConnection(context.target.host(), context.target.port())) {
                context.phase("load", () -> load(connection));
            }
            context.phase("listen", () -> listen(listener));
            long[] arrivedAt = listener.end();
            if (!context.cancellation.isCancelled() && !context.isFailed()) {
                conclude(listener, arrivedAt);
            }
        }
    }

    private void load(RespConnection connection) throws IOException {
        SplittableRandom random = new SplittableRandom(context.plan.experiment().seed());
        SetBatch batch = new SetBatch(BATCH, valueBytes);
        long start = System.nanoTime();
        for (int next = 0; next < keys && !context.cancellation.isCancelled() && !context.isFailed();) {
            int end = Math.min(keys, next + BATCH);
            long now = System.currentTimeMillis();
            for (; next < end; next++) {
                long at = now + random.nextInt(fromMillis, toMillis);
                boolean expires = random.nextInt(oneIn) == 0;
                if (expires) {
                    expireAt[next] = at;
                    expiring++;
                    lastExpireAt = Math.max(lastExpireAt, at);
                }
                batch.setUntil(next, valueBytes, expires ? at : now + LONG_MILLIS);
            }
            int failed = batch.exchange(connection, message -> context.faults.add("error reply: " + message));
            if (failed > 0) {
                context.faults.add(failed + " error replies in one batch");
            }
            context.gauge.set(next * 1e9 / (System.nanoTime() - start));
        }
        context.metrics.put("load_throughput_ops", keys * 1e9 / (System.nanoTime() - start));
        context.gauge.set(0);
    }

    /** Waits until all events have arrived, or until a time limit. */
    private void listen(EventListener listener) {
        long end = lastExpireAt + TimeUnit.SECONDS.toMillis(context.plan.size(context.run).seconds());
        while (listener.count() < expiring && System.currentTimeMillis() < end && !context.cancellation.isCancelled()
                && !context.isFailed()) {
            context.pause(POLL_MILLIS);
        }
    }

    private void conclude(EventListener listener, long[] arrivedAt) throws IOException {
        Histogram delays = new Histogram(DIGITS);
        long within = 0;
        long withinCycle = 0;
        long missing = 0;
        long early = 0;
        for (int key = 0; key < keys; key++) {
            if (expireAt[key] == 0) {
                early += arrivedAt[key] == 0 ? 0 : 1;
            } else if (arrivedAt[key] == 0) {
                missing++;
            } else {
                long micros = arrivedAt[key] - TimeUnit.MILLISECONDS.toMicros(expireAt[key]);
                early += micros < 0 ? 1 : 0;
                delays.recordValue(Math.max(0, micros));
                within += micros <= TimeUnit.MILLISECONDS.toMicros(baseMillis) ? 1 : 0;
                withinCycle += micros <= TimeUnit.MILLISECONDS.toMicros(baseMillis + cycleMillis) ? 1 : 0;
            }
        }
        if (early + listener.repeated() > 0) {
            context.faults.add(early + " events before their time, " + listener.repeated() + " repeated events");
        }
        double share = WHOLE * within / Math.max(1, expiring);
        context.metrics.put(EventsText.EVENTS, delays.getTotalCount());
        context.metrics.put(EventsText.MISSING, missing);
        context.metrics.put(EventsText.P50, delays.getValueAtPercentile(50) / MILLI);
        context.metrics.put(EventsText.P99, delays.getValueAtPercentile(99) / MILLI);
        context.metrics.put(EventsText.MAX, delays.getMaxValue() / MILLI);
        context.metrics.put(EventsText.WITHIN, share);
        context.metrics.put(EventsText.WITHIN_CYCLE, WHOLE * withinCycle / Math.max(1, expiring));
        try (PrintStream out = new PrintStream(Files.newOutputStream(context.directory.resolve(RunFiles.DELAY_HGRM)),
                false, StandardCharsets.US_ASCII)) {
            delays.outputPercentileDistribution(out, MILLI);
        }
        if (context.plan.configuration(context.run).server() == Server.VARVE) {
            context.checks.add(Check.atMost("keys that expired without an event", missing, 0));
            context.checks.add(Check.atLeast("events within one BASE, %", share, WHOLE));
        }
    }
}
