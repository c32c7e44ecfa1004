package io.varve.experiments.run.flash;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

import io.varve.experiments.plan.SimulatedLoad;
import io.varve.experiments.plan.StoreSettings;
import io.varve.experiments.result.RunRecord.Check;
import io.varve.experiments.result.table.PoliciesText;
import io.varve.experiments.run.context.RunContext;
import io.varve.experiments.server.ProcessUsage;
import io.varve.experiments.simulate.KeyStream;
import io.varve.experiments.simulate.Simulation;
import io.varve.experiments.simulate.Simulation.Cell;
import io.varve.experiments.simulate.Simulation.Outcome;
import io.varve.experiments.simulate.YcsbKeys;
import io.varve.flash.FlashCache;
import io.varve.flash.FlashCacheSettings;
import io.varve.flash.FlashCacheStats;
import io.varve.flash.je.JeSettings;
import io.varve.flash.je.JeStore;
import io.varve.flash.policy.Policies;
import io.varve.flash.store.DurabilityLevel;
import io.varve.flash.store.FlashStore;

/**
 * Measures the paper's prototype (TBF, section III): a cache on flash in front of a database on disk, both Berkeley DB
 * JE in real files, write-through, under YCSB's requests. It also simulates these requests. Confined to the thread that
 * does the run, except the clients.
 */
public final class ObservedRun {
    private static final double POINT = 0.01;
    /**
     * Allowed difference between the observed and the simulated ratio in points, and in standard errors, which dominate
     * if there are few requests. An experiment has some fifty of these comparisons: three standard errors would be
     * exceeded by chance in every eighth one.
     */
    private static final double NEAR_SIMULATION = 0.3;
    private static final double STANDARD_ERRORS = 4;
    /** The paper's record size. */
    private static final int RECORD_BYTES = 256;
    private static final long CACHE_BYTES = 64 << 20;
    /** Half of a page: a request for an updated record is served by the page that the update has changed. */
    private static final double MIN_DEVICE_BYTES = 2048;
    private static final Path COUNTERS = Path.of("/proc/self/io");
    private static final int CHECK_INTERVAL = 1024;

    private final RunContext context;
    private final LongSupplier nanoTime;
    private final SimulatedLoad load;
    private final StoreSettings stores;
    private final YcsbKeys keys;
    private final int threads;
    private final Path diskDirectory;

    public ObservedRun(RunContext context) {
        this(context, System::nanoTime);
    }

    /** @param nanoTime the clock of the requests */
    ObservedRun(RunContext context, LongSupplier nanoTime) {
        this.context = context;
        this.nanoTime = nanoTime;
        load = context.plan.simulated(context.run);
        stores = context.plan.stores(context.run);
        keys = load.ycsb().orElseThrow(() -> new IllegalArgumentException("a real cache gets YCSB's requests only"));
        threads = context.run.threads();
        diskDirectory = context.directory.resolve("disk");
        context.load.putAll(context.plan.workload(context.run));
        context.load.put("keys", String.valueOf(load.keys()));
        context.load.put("requests", String.valueOf(load.requests()));
        context.load.put("warmup-requests", String.valueOf(load.warmup()));
        context.load.put("record-bytes", String.valueOf(RECORD_BYTES));
    }

    public void measure() throws IOException {
        try {
            context.phase("load the disk", this::load);
            // Without it the first policies would run while the JVM still compiles the stores' code.
            context.phase("rehearsal",
                    () -> observe(load.policies().getFirst(), load.percents().getFirst(), List.of(), false));
            for (double percent : load.percents()) {
                List<Outcome> simulated = new ArrayList<>();
                context.phase("simulate", () -> simulated.addAll(simulate(percent)));
                for (Policies policy : load.policies()) {
                    context.phase(policy.optionName() + " " + PoliciesText.size(percent),
                            () -> observe(policy, percent, simulated, true));
                }
            }
        } finally {
            delete(diskDirectory);
        }
    }

    private FlashStore disk(long treeBytes, boolean cached) throws IOException {
        FlashStore store = JeStore.open(diskDirectory, JeSettings.of(treeBytes));
        return cached ? store : uncached(store, diskDirectory);
    }

    private FlashStore uncached(FlashStore store, Path directory) throws IOException {
        try {
            return new UncachedStore(store, CachedPages.of(directory), nanoTime);
        } catch (IOException | RuntimeException failed) {
            store.close();
            throw failed;
        }
    }

    private FlashStore flash(Path directory) throws IOException {
        FlashStore store = JeStore.open(directory, JeSettings.of(CACHE_BYTES));
        return stores.isFlashCached() ? store : uncached(store, directory);
    }

    private void load() throws IOException {
        byte[] record = new byte[RECORD_BYTES];
        SplittableRandom random = new SplittableRandom(context.plan.experiment().seed());
        try (FlashStore disk = disk(CACHE_BYTES, true)) {
            long start = System.nanoTime();
            for (int number = 0; number < load.keys(); number++) {
                random.nextBytes(record);
                disk.put(key(YcsbKeys.keyOf(number)), record, DurabilityLevel.BUFFERED);
                if (number % CHECK_INTERVAL == 0) {
                    context.gauge.set(number * 1e9 / (System.nanoTime() - start));
                    if (context.cancellation.isCancelled()) {
                        return;
                    }
                }
            }
            // The page cache gives up only pages that are on the device.
            disk.makeDurable(stores.isDiskCached() ? DurabilityLevel.TO_SYSTEM : DurabilityLevel.TO_DEVICE);
        }
    }

    private static byte[] key(long key) {
        return ByteBuffer.allocate(Long.BYTES).putLong(key).array();
    }

    private List<Outcome> simulate(double percent) throws IOException {
        List<Cell> cells = load.policies().stream().filter(policy -> policy != Policies.NONE)
                .map(policy -> new Cell(policy, load.capacity(percent))).toList();
        return new Simulation(keys, load.warmup(), load.steps(), context.plan.experiment().seed(), false)
                .run(cells, _ -> !context.cancellation.isCancelled());
    }

    /** @param recorded whether the results are part of the run's */
    private void observe(Policies policy, double percent, List<Outcome> simulated, boolean recorded)
            throws IOException {
        Path flashDirectory = context.directory.resolve("flash");
        try (Arena arena = Arena.ofShared()) {
            FlashStore disk = disk(stores.diskTreeBytes(), stores.isDiskCached());
            FlashStore flash = flash(flashDirectory);
            try (FlashCache cache = new FlashCache(flash, disk,
                    policy.create(arena, load.capacity(percent),
                            new SplittableRandom(context.plan.experiment().seed())),
                    FlashCacheSettings.of(load.capacity(percent)), System::nanoTime)) {
                List<UncachedStore> uncached = Stream.of(flash, disk).filter(UncachedStore.class::isInstance)
                        .map(UncachedStore.class::cast).toList();
                request(cache, load.warmup(), uncached);
                uncached.forEach(UncachedStore::start);
                FlashCacheStats before = cache.stats();
                double readBefore = deviceReads();
                List<ClientTime> clients = request(cache, load.requests(), uncached);
                if (recorded && !context.cancellation.isCancelled()) {
                    concludeReads(policy, percent, (deviceReads() - readBefore) / load.requests());
                    concludeSpeed(policy, percent, ClientTime.slowest(clients), !uncached.isEmpty());
                    conclude(policy, percent, before, cache.stats(), simulated);
                }
            }
        } finally {
            delete(flashDirectory);
        }
    }

    /** Runs all clients concurrently, each with its share. The result lacks clients that did not end. */
    private List<ClientTime> request(FlashCache cache, long requests, List<UncachedStore> uncached)
            throws IOException {
        List<ClientTime> times = new ArrayList<>();
        try (ExecutorService pool = Executors.newFixedThreadPool(threads)) {
            List<Future<ClientTime>> clients = new ArrayList<>();
            for (int client = 0; client < threads; client++) {
                boolean shown = client == 0;
                clients.add(pool.submit(() -> request(cache, requests / threads, uncached, shown)));
            }
            for (Future<ClientTime> client : clients) {
                times.add(client.get());
            }
        } catch (ExecutionException failed) {
            throw new IOException("a client failed: " + failed.getCause(), failed);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            context.cancellation.cancel();
        }
        return times;
    }

    private ClientTime request(FlashCache cache, long requests, List<UncachedStore> uncached, boolean shown)
            throws IOException {
        long start = nanoTime.getAsLong();
        SplittableRandom random = new SplittableRandom();
        byte[] record = new byte[RECORD_BYTES];
        long done = 0;
        try (KeyStream stream = new YcsbKeys(keys.distribution(), load.keys(), requests, load.updates()).open()) {
            while (stream.next()) {
                byte[] key = key(stream.key());
                if (cache.read(key) == null) {
                    throw new IOException("a record is missing");
                }
                if (stream.updates()) {
                    random.nextBytes(record);
                    cache.write(key, record);
                }
                if (++done % CHECK_INTERVAL == 0) {
                    if (shown) {
                        context.gauge.set(threads * done / since(start, uncached).seconds());
                    }
                    if (context.cancellation.isCancelled()) {
                        break;
                    }
                }
            }
        }
        return since(start, uncached);
    }

    /** The time of the calling thread, which has not used the stores before this start. */
    private ClientTime since(long start, List<UncachedStore> uncached) {
        return new ClientTime(nanoTime.getAsLong() - start,
                uncached.stream().mapToLong(UncachedStore::adviceNanos).sum());
    }

    /** Bytes that this process has read from devices; NaN if the system does not count them. */
    private double deviceReads() throws IOException {
        return Files.isReadable(COUNTERS) ? ProcessUsage.deviceReadBytes(context.target) : Double.NaN;
    }

    private void concludeReads(Policies policy, double percent, double bytes) {
        if (Double.isNaN(bytes)) {
            return;
        }
        put(PoliciesText.DEVICE_BYTES, policy, percent, bytes);
        if (policy == Policies.NONE && !stores.isDiskCached()) {
            context.checks.add(Check.atLeast("bytes read from the device per request without a cache", bytes,
                    MIN_DEVICE_BYTES));
        }
    }

    private void concludeSpeed(Policies policy, double percent, ClientTime slowest, boolean advised) {
        put(PoliciesText.OPS, policy, percent, load.requests() / slowest.seconds());
        if (advised) {
            put(PoliciesText.ADVICE, policy, percent, slowest.adviceSeconds());
        }
    }

    private void conclude(Policies policy, double percent, FlashCacheStats before, FlashCacheStats after,
            List<Outcome> simulated) {
        double hits = after.hits() - before.hits();
        double observed = hits / (hits + after.misses() - before.misses());
        long evictions = after.evictions() - before.evictions();
        put(PoliciesText.HITS, policy, percent, observed);
        put(PoliciesText.TRAVERSED, policy, percent,
                evictions == 0 ? 0 : (double) (after.keysTraversed() - before.keysTraversed()) / evictions);
        put(PoliciesText.POOR, policy, percent,
                (double) (after.poorVictims() - before.poorVictims()) / Math.max(1, evictions));
        put(PoliciesText.BYTES, policy, percent, (double) after.policyBytes() / load.capacity(percent));
        if (after.failures() + after.corrupt() > 0) {
            context.faults.add(policy.optionName() + ": " + after.failures() + " failures of the flash store and "
                    + after.corrupt() + " corrupt records");
        }
        for (Outcome outcome : simulated) {
            if (outcome.cell().policy() == policy) {
                put(PoliciesText.SIMULATED, policy, percent, outcome.figures().hitRatio());
                context.checks.add(Check.atMost(policy.optionName() + ", cache of " + PoliciesText.size(percent)
                        + ": measurement against simulation, percentage points",
                        Math.abs(observed - outcome.figures().hitRatio()) / POINT,
                        Math.max(NEAR_SIMULATION, STANDARD_ERRORS * standardError(observed) / POINT)));
            }
        }
    }

    /** Standard error of the difference of two hit ratios with this many requests each. */
    private double standardError(double ratio) {
        return Math.sqrt(2 * ratio * (1 - ratio) / load.requests());
    }

    private void put(String metric, Policies policy, double percent, double value) {
        context.metrics.put(PoliciesText.name(metric, policy.optionName(), PoliciesText.size(percent)), value);
    }

    private static void delete(Path directory) throws IOException {
        if (Files.exists(directory)) {
            try (Stream<Path> inside = Files.walk(directory)) {
                for (Path path : inside.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(path);
                }
            }
        }
    }
}
