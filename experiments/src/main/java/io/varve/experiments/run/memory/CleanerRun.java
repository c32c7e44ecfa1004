package io.varve.experiments.run.memory;

import java.io.BufferedWriter;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

import io.varve.experiments.plan.CleanerLoad;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.result.RunRecord.Check;
import io.varve.experiments.result.Sample;
import io.varve.experiments.result.table.CleanerText;
import io.varve.experiments.run.context.RunContext;
import io.varve.experiments.server.ProcessUsage;
import io.varve.memory.Cache;
import io.varve.memory.CacheSession;
import io.varve.memory.config.CacheConfig;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.report.CacheStats;
import io.varve.server.config.ConfigException;
import io.varve.server.config.ServerConfig;

/**
 * Measures the cost of the cleaner (redis-plus-plus, Figure 6): the memory tier under writes, without a server, on a
 * simulated clock. Confined to the thread that does the run.
 *
 * <p>The cache, its cleaner and its expiry are the server's; only the time differs. Each write advances the clock by a
 * fixed step, so that TTLs of a minute need no minute, and one seed always gives the same figures.
 */
public final class CleanerRun {
    private static final double NANOS_PER_SECOND = 1e9;
    private static final int MILLIS_PER_SECOND = 1000;
    /** Maximum bytes of a write beside key and value. */
    private static final int OVERHEAD_BYTES = 64;

    private final RunContext context;
    private final CleanerLoad load;
    private final Map<String, String> workload;
    private final SteppedTicker ticker = new SteppedTicker();
    private final List<Sample> samples = new ArrayList<>();
    private final SplittableRandom random;
    private final long seed;
    private long written;
    private long writtenOnce;
    private long refused;
    /** Segments that were cleaned without any live item to move. */
    private long cleanedWithoutMoving;
    private long lastCleaned;
    private long lastMoved;
    private long nextMaintainMillis;
    private long nextSampleMillis;
    private long sampledWrites;
    private long sampledNanos = System.nanoTime();

    public CleanerRun(RunContext context) {
        this.context = context;
        this.workload = context.plan.workload(context.run);
        this.load = context.plan.cleaner(context.run);
        this.seed = context.plan.experiment().seed();
        this.random = new SplittableRandom(seed);
        context.load.putAll(workload);
        context.load.put("lasting-keys", String.valueOf(load.lastingKeys()));
        context.load.put("expiring-keys", String.valueOf(load.expiringKeys()));
        context.load.put("writes-per-second-of-its-clock", String.valueOf(Math.round(load.writesPerSecond())));
        context.load.put("writes-counted", String.valueOf(load.countedWrites()));
    }

    public void measure() throws IOException {
        try (Arena arena = Arena.ofConfined();
                Cache cache = Cache.open(config());
                BufferedWriter csv = Files.newBufferedWriter(context.directory.resolve(RunFiles.MEMORY_CSV))) {
            csv.write(Sample.CSV_HEADER + "\n");
            Writer writer = new Writer(cache, csv, arena.allocate(load.keyBytes(), Long.BYTES),
                    arena.allocate(load.values().max()));
            context.phase("load", () -> fill(writer));
            context.phase("warm up", () -> update(writer, load.warmWrites()));
            CacheStats[] before = new CacheStats[] {cache.stats()};
            context.phase("measure", () -> {
                before[0] = cache.stats();
                cleanedWithoutMoving = 0;
                update(writer, load.countedWrites());
            });
            if (!context.cancellation.isCancelled() && !context.isFailed()) {
                List<String> violations = cache.checkIntegrity();
                if (violations.isEmpty()) {
                    conclude(before[0], cache.stats());
                } else {
                    context.faults.add("the cache is inconsistent: " + violations.getFirst());
                }
            }
        }
    }

    private CacheConfig config() throws IOException {
        try {
            ServerConfig config = ServerConfig.defaults().with("maxmemory", context.plan.maxmemory(context.run));
            for (Map.Entry<String, String> setting : context.plan.configuration(context.run).settings().entrySet()) {
                config = config.with(setting.getKey(), setting.getValue());
            }
            return config.validate().cacheConfig().withHashSeed(seed).withTicker(ticker);
        } catch (ConfigException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    /** Writes the persistent keys in a random order, so that hot ones are not together at first. */
    private void fill(Writer writer) throws IOException {
        int[] order = new int[load.lastingKeys()];
        for (int i = 0; i < order.length; i++) {
            int other = random.nextInt(i + 1);
            order[i] = order[other];
            order[other] = i;
        }
        for (int key : order) {
            if (!writer.write(key, Item.NEVER)) {
                return;
            }
        }
    }

    private void update(Writer writer, long writes) throws IOException {
        for (long i = 0; i < writes; i++) {
            boolean expires = random.nextDouble() < load.ttlShare();
            boolean going = expires
                    ? writer.write(load.lastingKeys() + nextExpiring(), ticker.wallMillis() + MILLIS_PER_SECOND
                            * (long) load.ttlSeconds().get(random.nextInt(load.ttlSeconds().size())))
                    : writer.write(pick(load.lastingKeys()), Item.NEVER);
            if (!going) {
                return;
            }
        }
    }

    private long nextExpiring() {
        return load.expiringKeys() == 0 ? writtenOnce++ : pick(load.expiringKeys());
    }

    /** Draws a key from 0: the first of them are the hot ones. */
    private int pick(int keys) {
        int hot = (int) (keys * load.hotKeys());
        boolean toHot = random.nextDouble() < load.hotWrites();
        return toHot && hot > 0 || hot == keys ? random.nextInt(hot) : hot + random.nextInt(keys - hot);
    }

    /** Makes one write at a time, with a server's work around it. Confined to the thread that does the run. */
    private final class Writer {
        private final Cache cache;
        private final CacheSession session;
        private final BufferedWriter csv;
        private final MemorySegment keyBytes;
        private final MemorySegment value;
        private final Key key = new Key();
        private final double stepNanos = NANOS_PER_SECOND / load.writesPerSecond();

        Writer(Cache cache, BufferedWriter csv, MemorySegment keyBytes, MemorySegment value) {
            this.cache = cache;
            this.session = cache.newSession();
            this.csv = csv;
            this.keyBytes = keyBytes;
            this.value = value;
        }

        /** @return whether to continue */
        boolean write(long number, long expireAtMillis) throws IOException {
            ticker.advanceNanos(stepNanos);
            int valueBytes = load.values().of(seed, written);
            boolean admitted = cache.admit(load.keyBytes() + valueBytes + OVERHEAD_BYTES);
            countCleanedSegments();
            if (admitted) {
                session.now(ticker.wallMillis());
                keyBytes.set(ValueLayout.JAVA_LONG, 0, number);
                session.bind(key, 0, keyBytes.address(), load.keyBytes());
                session.lock(key);
                try {
                    session.set(key, ItemType.STRING, 0, value.address(), valueBytes, expireAtMillis);
                } finally {
                    session.unlock(key);
                }
            } else {
                refused++;
            }
            written++;
            if (ticker.elapsedMillis() >= nextMaintainMillis) {
                nextMaintainMillis += load.maintainMillis();
                for (int round = 0; round < load.maintainRounds() && cache.maintain() == 0; round++) {
                    countCleanedSegments();
                }
                countCleanedSegments();
            }
            if (ticker.elapsedMillis() < nextSampleMillis) {
                return true;
            }
            nextSampleMillis += MILLIS_PER_SECOND;
            sample();
            return !context.cancellation.isCancelled();
        }

        /**
         * Checks whether the cleaning since the last check moved anything. If several segments were cleaned at once and
         * one of them moved an item, all of them count as having done so.
         */
        private void countCleanedSegments() {
            CacheStats stats = cache.stats();
            if (stats.segmentsCleaned() != lastCleaned) {
                if (stats.bytesMoved() == lastMoved) {
                    cleanedWithoutMoving += stats.segmentsCleaned() - lastCleaned;
                }
                lastCleaned = stats.segmentsCleaned();
                lastMoved = stats.bytesMoved();
            }
        }

        private void sample() throws IOException {
            long now = System.nanoTime();
            double ops = (written - sampledWrites) * NANOS_PER_SECOND / Math.max(1, now - sampledNanos);
            sampledWrites = written;
            sampledNanos = now;
            context.gauge.set(ops);
            CacheStats stats = cache.stats();
            Sample sample = new Sample(ticker.elapsedMillis(), stats.usedBytes(),
                    ProcessUsage.residentBytes(context.target), stats.items(), stats.expired(), stats.evicted(), ops,
                    -1,
                    -1, Double.NaN);
            samples.add(sample);
            csv.write(sample.csv() + "\n");
        }
    }

    private void conclude(CacheStats before, CacheStats after) {
        var measured = context.metrics;
        measured.putMemory(samples);
        long cleaned = after.segmentsCleaned() - before.segmentsCleaned();
        long whole = after.segmentsFreedWhole() - before.segmentsFreedWhole();
        long moved = after.bytesMoved() - before.bytesMoved();
        double cost = after.reclaimCost() - before.reclaimCost();
        double bytesWritten = after.bytesWritten() - before.bytesWritten();
        double withoutMoving = cleaned + whole == 0
                ? Double.NaN
                : (double) (whole + cleanedWithoutMoving) / (cleaned + whole);
        measured.put(CleanerText.COST, cost);
        measured.put(CleanerText.CLEANED, cleaned);
        measured.put(CleanerText.MEAN_UTILIZATION, cost / cleaned);
        measured.put("segments_freed_whole", whole);
        measured.put("segments_cleaned_without_moving", cleanedWithoutMoving);
        measured.put(CleanerText.WITHOUT_MOVING, withoutMoving);
        measured.put("bytes_moved", moved);
        measured.put("bytes_written", bytesWritten);
        measured.put(CleanerText.MOVED, moved / bytesWritten);
        measured.put("live_bytes_over_maxmemory", (double) after.liveBytes() / after.maxMemoryBytes());
        measured.put("writes_refused", refused);
        context.checks.add(Check.atMost("refused writes", refused, 0));
        String min = workload.get("limit-without-moving");
        boolean byLifetime = !context.plan.configuration(context.run).settings().containsKey(CleanerText.HEADS);
        if (min != null && byLifetime) {
            context.checks
                    .add(Check.atLeast("share of the segments that were freed without moving a byte", withoutMoving,
                            Double.parseDouble(min)));
        }
    }
}
