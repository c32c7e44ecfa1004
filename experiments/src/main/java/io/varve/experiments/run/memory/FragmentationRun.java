package io.varve.experiments.run.memory;

import java.io.IOException;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;

import io.varve.experiments.definition.Experiment.Server;
import io.varve.experiments.plan.ByteSizes;
import io.varve.experiments.plan.FragmentationLoad;
import io.varve.experiments.plan.ValueSizes;
import io.varve.experiments.result.LiveShare;
import io.varve.experiments.result.RunRecord.Check;
import io.varve.experiments.result.table.FragmentationText;
import io.varve.experiments.run.context.RunContext;
import io.varve.experiments.run.load.AlternatingLoad;
import io.varve.experiments.run.load.SetBatch;
import io.varve.experiments.server.ProcessUsage;
import io.varve.experiments.wire.RespConnection;
import io.varve.experiments.wire.ServerInfo;

/**
 * The memory utilization test of redis-plus-plus (its Table 1): it loads twice the limit in items of one size, deletes
 * a share of them, and loads twice the limit in items of another size. Confined to the thread that does the run.
 *
 * <p>The sequence runs twice. After the first pass everything is flushed, and the remaining memory of the process
 * counts as <em>empty</em>; the second pass is measured.
 */
public final class FragmentationRun {
    private static final int BATCH = 400;
    private static final int KEY_DIGITS = 10;
    /** Pause between FLUSHALL and the measurement of the empty process. */
    private static final long EMPTY_MILLIS = 5000;
    /** Pause after the last load, before a second measurement of the resident memory. */
    private static final long REST_MILLIS = 5000;
    /** Number of values whose length is checked, to verify the computed sum. */
    private static final int PROBES = 1000;
    /** Maximum memory that a JVM may have taken for code, classes and heap during its warm-up. */
    private static final double MAX_WARM_BYTES = 128 << 20;
    /**
     * Minimum maxmemory for a verdict on the live share: the JVM itself grows by 10 to 20 MB in the second pass, which
     * is a tenth or more of a small limit.
     */
    private static final long LIVE_SHARE_MIN_BYTES = 100L << 20;
    private static final double MAX_KNOWN_TO_JEMALLOC = 0.05;
    private static final long DELETE_SALT = 0x5eedL;

    /** The cost of one load. */
    private record LoadCost(long items, double seconds, long cpuMicros) {
        double ops() {
            return items / seconds;
        }
    }

    private final RunContext context;
    private final FragmentationLoad load;
    private final Map<String, String> workload;
    private final long seed;
    private final String keyPrefix;
    private LoadCost first = new LoadCost(0, 1, 0);
    private LoadCost second = new LoadCost(0, 1, 0);

    public FragmentationRun(RunContext context) {
        this.context = context;
        this.workload = context.plan.workload(context.run);
        this.load = context.plan.fragmentation(context.run);
        this.seed = context.plan.experiment().seed();
        this.keyPrefix = "k".repeat(load.keyBytes() - KEY_DIGITS);
        context.load.putAll(workload);
        context.load.put("bytes-of-a-load", String.valueOf(load.loadBytes()));
        context.load.put("items-first", String.valueOf(load.firstItems()));
        context.load.put("items-second", String.valueOf(load.secondItems()));
    }

    public void measure() throws IOException {
        long[] resident = new long[4];
        ServerInfo[] info = new ServerInfo[3];
        try (RespConnection connection = new RespConnection(context.target.host(), context.target.port())) {
            resident[0] = ProcessUsage.residentBytes(context.target);
            pass(connection, "warm-up ", info);
            context.phase("flush", () -> {
                connection.call("FLUSHALL");
                context.pause(EMPTY_MILLIS);
                resident[1] = ProcessUsage.residentBytes(context.target);
            });
            pass(connection, "", info);
            context.phase("rest", () -> {
                resident[2] = ProcessUsage.residentBytes(context.target);
                if (context.plan.configuration(context.run).server() == Server.REDIS) {
                    // Redis counts the buffers of replies, and would evict more with every reply of the count.
                    connection.call("CONFIG", "SET", "maxmemory", "0");
                }
                info[2] = ServerInfo.parse(connection.call("INFO"));
                context.pause(REST_MILLIS);
                resident[3] = ProcessUsage.residentBytes(context.target);
            });
            StoredItems stored = new StoredItems(keyPrefix, key -> load.valueBytes(seed, key));
            context.phase("count", () -> count(connection, stored));
            if (!context.cancellation.isCancelled() && !context.isFailed()) {
                conclude(connection, stored, resident, info);
            }
        }
    }

    /**
     * Executes the two loads and the delete between them.
     *
     * @param info receives INFO before the first load and before the delete
     */
    private void pass(RespConnection connection, String which, ServerInfo[] info) throws IOException {
        context.phase(which + "first load", () -> {
            info[0] = ServerInfo.parse(connection.call("INFO"));
            first = runLoad(0, load.firstItems(), this::set);
            info[1] = ServerInfo.parse(connection.call("INFO"));
        });
        if (load.deleteShare() > 0) {
            context.phase(which + "delete", () -> {
                long there = Long.parseLong(connection.call("DBSIZE"));
                runLoad(0, load.firstItems(), this::delete);
                long left = Long.parseLong(connection.call("DBSIZE"));
                context.metrics.put("deleted_share", there == 0 ? Double.NaN : (double) (there - left) / there);
            });
        }
        if (load.after() != null) {
            context.phase(which + "second load",
                    () -> second = runLoad(load.firstItems(), load.firstItems() + load.secondItems(), this::set));
        }
    }

    /** Adds a key's command to the batch; returns false if there is none. */
    private interface Step {
        boolean put(SetBatch batch, int key);
    }

    private boolean set(SetBatch batch, int key) {
        batch.set(key, load.valueBytes(seed, key));
        return true;
    }

    /** The hash selects an equal share of all written keys and of those that were not evicted. */
    private boolean delete(SetBatch batch, int key) {
        if (ValueSizes.fraction(seed + DELETE_SALT, key) >= load.deleteShare()) {
            return false;
        }
        batch.delete(key);
        return true;
    }

    private LoadCost runLoad(int from, int to, Step step) throws IOException {
        long cpu = ProcessUsage.cpuMicros(context.target);
        long start = System.nanoTime();
        long done = 0;
        try (AlternatingLoad alternating = new AlternatingLoad(context.target, BATCH, load.maxValueBytes(), keyPrefix,
                KEY_DIGITS, this::error)) {
            for (int key = from; key < to; key++) {
                if (step.put(alternating.batch(), key)) {
                    done++;
                    if (alternating.put()) {
                        context.gauge.set(done * 1e9 / (System.nanoTime() - start));
                        if (context.cancellation.isCancelled() || context.isFailed()) {
                            break;
                        }
                    }
                }
            }
            alternating.finish();
        }
        context.gauge.set(0);
        return new LoadCost(done, (System.nanoTime() - start) / 1e9, ProcessUsage.cpuMicros(context.target) - cpu);
    }

    private void error(String message) {
        if (context.faults.isEmpty()) {
            context.faults.add("error reply: " + message);
        }
    }

    /** Sums up the stored items, and queries the length of some values to verify the sum. */
    private void count(RespConnection connection, StoredItems stored) throws IOException {
        stored.scan(connection);
        long there = Long.parseLong(connection.call("DBSIZE"));
        if (there != stored.keys()) {
            context.faults.add("SCAN found " + stored.keys() + " keys, DBSIZE says " + there);
        }
        int step = Math.max(1, (load.firstItems() + load.secondItems()) / PROBES);
        for (int key = stored.next(0); key >= 0; key = stored.next(key + step)) {
            String name = String.format(Locale.ROOT, "%s%0" + KEY_DIGITS + "d", keyPrefix, key);
            int length = Integer.parseInt(connection.call("STRLEN", name));
            if (length != load.valueBytes(seed, key)) {
                context.faults.add("the value of key " + key + " has " + length + " bytes instead of "
                        + load.valueBytes(seed, key));
                return;
            }
        }
    }

    private void conclude(RespConnection connection, StoredItems stored, long[] resident, ServerInfo[] info)
            throws IOException {
        LiveShare share = new LiveShare(stored.payloadBytes(), resident[2], resident[1], resident[0]);
        LiveShare rested = new LiveShare(stored.payloadBytes(), resident[3], resident[1], resident[0]);
        long peak = ProcessUsage.peakResidentBytes(context.target);
        var measured = context.metrics;
        measured.put("keys", stored.keys());
        measured.put("live_payload_bytes", share.payload());
        measured.put("resident_fresh_bytes", share.fresh());
        measured.put("resident_empty_bytes", share.empty());
        measured.put("resident_bytes", share.resident());
        measured.put("resident_after_5_s_bytes", rested.resident());
        // An allocator that keeps freed memory fills it again: its growth is then smaller than its content.
        measured.put(FragmentationText.LIVE, share.ofGrowthIfPossible());
        measured.put("live_over_resident_less_empty_after_5_s", rested.ofGrowth());
        measured.put(FragmentationText.LIVE_FROM_FRESH, share.ofGrowthFromFresh());
        measured.put(FragmentationText.OF_RESIDENT, share.ofResident());
        measured.put(FragmentationText.PEAK, peak);
        measured.put(FragmentationText.OVER_USED,
                (double) share.resident() / info[2].number("used_memory").orElse(0));
        put("first", first);
        double secondOverFirst = Double.NaN;
        if (load.after() != null) {
            put("second", second);
            secondOverFirst = second.ops() / first.ops();
            measured.put(FragmentationText.SECOND_OVER_FIRST, secondOverFirst);
        }
        // Counts the second load, if there is one, with the cleaning that the deletes before it cause. The first load
        // has nothing to clean below the limit, and would improve the mean.
        ServerInfo since = load.after() == null ? info[0] : info[1];
        double copied = ratio(info[2], since, "cleaner_bytes_moved", "bytes_written");
        measured.put(FragmentationText.COPIED, copied);
        measured.put("bytes_copied_per_byte_written_of_both_loads",
                ratio(info[2], info[0], "cleaner_bytes_moved", "bytes_written"));
        measured.put("segments_cleaned", difference(info[2], since, "cleaner_segments_cleaned"));
        measured.put("segments_freed_whole", difference(info[2], since, "cleaner_segments_freed_whole"));
        measured.put("used_memory_dataset_bytes",
                ServerInfo.parse(connection.call("INFO", "memory")).number("used_memory_dataset").orElse(-1));
        if (context.plan.configuration(context.run).allocator() != null) {
            // A Redis that is built with jemalloc still queries it, even if another allocator has replaced it.
            double known = (double) info[2].number("allocator_allocated").orElse(0)
                    / info[2].number("used_memory").orElse(1);
            measured.put("jemalloc_allocated_over_used_memory", known);
            context.checks.add(Check.atMost("share of used_memory that jemalloc allocated, although another allocator "
                    + "replaces it", known, MAX_KNOWN_TO_JEMALLOC));
        }
        if (context.plan.configuration(context.run).server() == Server.VARVE) {
            check(share, peak, copied, secondOverFirst);
        }
    }

    private void put(String which, LoadCost runLoad) {
        context.metrics.put(which + "_load_ops", runLoad.ops());
        context.metrics.put(which + "_load_mb_per_second", load.loadBytes() / runLoad.seconds() / 1e6);
        context.metrics.put(which + "_load_server_cpu_us_per_op", (double) runLoad.cpuMicros() / runLoad.items());
    }

    private void check(LiveShare share, long peak, double copied, double secondOverFirst) {
        long maxmemory = ByteSizes.parse(context.plan.maxmemory(context.run));
        long over = Long.parseLong(workload.getOrDefault("limit-rss-over-maxmemory-mb", "256")) << 20;
        Check live = Check.atLeast(FragmentationText.LIVE_CHECK, share.ofGrowthIfPossible(), limit("live-share"));
        context.checks.add(maxmemory >= LIVE_SHARE_MIN_BYTES
                ? live
                : live.notAsserted("below a maxmemory of 100 MB the JVM's own memory decides"));
        context.checks.add(Check.atMost(FragmentationText.COPIED_CHECK, copied, limit("copied")));
        context.checks.add(Check.atMost(FragmentationText.PEAK_CHECK, peak, maxmemory + over));
        if (load.after() != null) {
            context.checks.add(Check.atLeast(FragmentationText.THROUGHPUT_CHECK, secondOverFirst, limit("throughput")));
        }
        context.checks.add(Check.atMost("resident bytes that remain of the first pass after FLUSHALL",
                share.empty() - share.fresh(), MAX_WARM_BYTES));
    }

    private double limit(String name) {
        String text = workload.get("limit-" + name);
        if (text == null) {
            throw new IllegalArgumentException(
                    "workload " + context.run.workload() + ": limit-" + name + " is missing");
        }
        return Double.parseDouble(text);
    }

    private static double ratio(ServerInfo end, ServerInfo start, String numerator, String denominator) {
        return difference(end, start, numerator) / difference(end, start, denominator);
    }

    private static double difference(ServerInfo end, ServerInfo start, String field) {
        OptionalLong last = end.number(field);
        OptionalLong first = start.number(field);
        return last.isPresent() && first.isPresent() ? last.getAsLong() - first.getAsLong() : Double.NaN;
    }
}
