package io.varve.experiments.run;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

import io.varve.experiments.definition.Experiment.Server;
import io.varve.experiments.result.EventsText;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.result.RunRecord.Check;
import io.varve.experiments.wire.RespConnection;
import org.HdrHistogram.Histogram;

/**
 * Keys are written with expiry times, and a client that listens to {@code expired} notes when it is told of each. Confined to the thread
 * that does the run, but for who listens.
 */
final class ExpiredEventsRun {
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
    /** When each key expires, milliseconds since the epoch; 0 for those that live on. */
    private final long[] expireAt;
    private int expiring;
    private long lastExpireAt;

    ExpiredEventsRun(RunContext context) {
        this.context = context;
        keys = Math.toIntExact(context.plan.keys(context.run));
        if (keys > SetBatch.MAX_KEYS) {
            throw new IllegalArgumentException("records " + keys + ": allowed are 1 to " + SetBatch.MAX_KEYS);
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

    void measure() throws IOException {
        try (EventListener listener = new EventListener(context.target, keys)) {
            try (RespConnection connection = new RespConnection(context.target.host(), context.target.port())) {
                context.phase("load", () -> load(connection));
            }
            context.phase("listen", () -> listen(listener));
            long[] arrivedAt = listener.end();
            if (!context.stop.isAsked() && !context.isFailed()) {
                conclude(listener, arrivedAt);
            }
        }
    }

    private void load(RespConnection connection) throws IOException {
        SplittableRandom random = new SplittableRandom(context.plan.experiment().seed());
        SetBatch batch = new SetBatch(BATCH, valueBytes);
        long start = System.nanoTime();
        for (int next = 0; next < keys && !context.stop.isAsked() && !context.isFailed();) {
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
        context.measured.put("load_throughput_ops", keys * 1e9 / (System.nanoTime() - start));
        context.gauge.set(0);
    }

    /** Until all events are there, or no more are waited for. */
    private void listen(EventListener listener) {
        long end = lastExpireAt + TimeUnit.SECONDS.toMillis(context.plan.size(context.run).seconds());
        while (listener.count() < expiring && System.currentTimeMillis() < end && !context.stop.isAsked()
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
            context.faults.add(early + " events before their time, " + listener.repeated() + " told again");
        }
        double share = WHOLE * within / Math.max(1, expiring);
        context.measured.put(EventsText.EVENTS, delays.getTotalCount());
        context.measured.put(EventsText.MISSING, missing);
        context.measured.put(EventsText.P50, delays.getValueAtPercentile(50) / MILLI);
        context.measured.put(EventsText.P99, delays.getValueAtPercentile(99) / MILLI);
        context.measured.put(EventsText.MAX, delays.getMaxValue() / MILLI);
        context.measured.put(EventsText.WITHIN, share);
        context.measured.put(EventsText.WITHIN_CYCLE, WHOLE * withinCycle / Math.max(1, expiring));
        try (PrintStream out = new PrintStream(Files.newOutputStream(context.directory.resolve(RunFiles.DELAY_HGRM)),
                false, StandardCharsets.US_ASCII)) {
            delays.outputPercentileDistribution(out, MILLI);
        }
        if (context.plan.configuration(context.run).server() == Server.VARVE) {
            context.checks.add(Check.atMost("keys that expired without an event", missing, 0));
            context.checks.add(Check.atLeast("events within one BASE, percent", share, WHOLE));
        }
    }
}
