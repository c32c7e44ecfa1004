package io.varve.memory;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.LongUnaryOperator;

import io.varve.memory.config.CacheConfig;
import io.varve.memory.eviction.PinnedItems;
import io.varve.memory.expiry.DueCount;
import io.varve.memory.hotkeys.HotKeys;
import io.varve.memory.index.KeyHash;
import io.varve.memory.index.vector.TagScanners;
import io.varve.memory.item.ChangeListener;
import io.varve.memory.item.ItemCapture;
import io.varve.memory.item.Key;
import io.varve.memory.item.SecondaryTier;
import io.varve.memory.item.ValueRun;
import io.varve.memory.learning.CurveLearning;
import io.varve.memory.learning.DemandController;
import io.varve.memory.learning.PenaltyLearning;
import io.varve.memory.maintenance.KeyspaceStats;
import io.varve.memory.maintenance.LazyFree;
import io.varve.memory.maintenance.MemoryReclaimer;
import io.varve.memory.offheap.MemoryBudget;
import io.varve.memory.offheap.Regions;
import io.varve.memory.report.CacheStats;
import io.varve.memory.report.DemandReport;
import io.varve.memory.report.Epochs;
import io.varve.memory.report.MemoryCurve;
import io.varve.memory.report.PenaltyReport;
import io.varve.memory.segment.Location;
import io.varve.memory.segment.SegmentPool;
import io.varve.memory.segment.SegmentSizing;
import io.varve.memory.segment.Segments;
import io.varve.memory.shard.LookupTrace;
import io.varve.memory.shard.Shard;
import io.varve.memory.shard.ShardIntegrity;
import io.varve.memory.shard.ShardLocks;
import io.varve.memory.shard.ShardTotals;
import io.varve.memory.shard.context.Databases;
import io.varve.memory.shard.context.ShardContext;
import org.jspecify.annotations.Nullable;

/**
 * The in-memory implementation of {@link Cache}. Thread-safe: shards guard themselves; the settings are volatile.
 *
 * <p>This class creates the objects of the other packages of this module and wires them together.
 */
public final class InMemoryCache implements Cache {
    /** How often memory for a run is reserved again after other threads took it. */
    private static final int MAX_ATTEMPTS = 16;

    private static final System.Logger LOG = System.getLogger(InMemoryCache.class.getName());

    /** Values from this size on live in a run of their own, whatever the segment size, bytes. */
    private static final int LARGE_BYTES = 64 << 10;
    private static final int LARGE_PART_OF_SEGMENT = 4;
    private static final int SHARDS_PER_CORE = 4;
    /** The longest hold of a shard's lock while items are counted. */
    private static final long COUNT_SLICE_NANOS = 50_000;
    /** Address space is reserved for this multiple of the initial maxmemory. */
    private static final long SPARE_FACTOR = 2;
    private static final long MIN_SPARE_BYTES = 1L << 30;

    private final ShardContext context;
    private final Shard[] shards;
    private final ShardRouter router;
    private final KeyspaceStats keyspaceStats;
    private final Maintenance maintenance;
    private final MemoryReclaimer reclaimer;
    private final PenaltyLearning penalties;
    private final CurveLearning learning;
    private final DemandController demand;
    private final CacheDatabases databases;
    private final long initialMaxBytes;
    private volatile CacheConfig config;

    private InMemoryCache(CacheConfig config, long maxBytes, ShardContext context, Shard[] shards) {
        this.config = config;
        initialMaxBytes = Math.min(maxBytes, (long) context.pool.maxSegments() * config.segmentSizeBytes());
        this.context = context;
        this.shards = shards;
        this.router = new ShardRouter(shards.length, context.keyHash, config.keySlots());
        LazyFree lazyFree = new LazyFree(context, shards);
        this.databases = new CacheDatabases(context, shards, router, lazyFree);
        this.reclaimer = new MemoryReclaimer(context, shards, lazyFree);
        this.keyspaceStats = new KeyspaceStats(shards, config.databases(), config.ticker());
        this.penalties = new PenaltyLearning(context, shards, reclaimer, config);
        this.learning = new CurveLearning(context, shards, penalties, config);
        this.demand = new DemandController(context, shards, reclaimer, config);
        this.maintenance = new Maintenance(context, shards, reclaimer, lazyFree, keyspaceStats, penalties, learning,
                demand,
                config);
        context.findHotKeys(config.hotKeys());
    }

    /** The state that the shards share. */
    public ShardContext context() {
        return context;
    }

    static InMemoryCache open(CacheConfig requested) {
        return open(requested, 0);
    }

    static InMemoryCache open(CacheConfig requested, long maxBytes) {
        return open(requested, maxBytes, new Regions());
    }

    public static InMemoryCache open(CacheConfig requested, Regions regions) {
        return open(requested, 0, regions);
    }

    private static InMemoryCache open(CacheConfig requested, long maxBytes, Regions regions) {
        int shardCount = requested.shards() != 0 ? requested.shards() : shardsFor(requested);
        int segmentBytes = requested.segmentSizeBytes() != 0
                ? requested.segmentSizeBytes()
                : SegmentSizing.auto(requested.maxMemoryBytes(), shardCount, requested.maxOpenSegments());
        CacheConfig config = requested.withShards(shardCount).withSegmentSizeBytes(segmentBytes);
        MemoryBudget budget = new MemoryBudget(config.maxMemoryBytes());
        budget.reserve(MemoryReclaimer.keptBytes(shardCount, segmentBytes, config.maxMemoryBytes()));
        // Without mmap, reserved memory is resident.
        long max = maxPoolBytes(config, regions.mapped() ? maxBytes : 0);
        SegmentPool pool = openPool(regions, budget, config, max);
        ShardContext context = new ShardContext(regions, budget, pool, new KeyHash(config.hashSeed()),
                TagScanners.best(), new Databases(config.databases()), config.ticker(),
                Math.min(LARGE_BYTES, segmentBytes / LARGE_PART_OF_SEGMENT), config.evictionPolicy(),
                config.evictionSamples(), config.cleanerPolicy(), shardCount);
        Shard[] shards = new Shard[shardCount];
        for (int i = 0; i < shardCount; i++) {
            shards[i] = new Shard(i, context, config.maxOpenSegments(), growLoad(i, shardCount),
                    config.expireAlgorithm(),
                    config.expireBaseMillis(), config.expireBuckets());
        }
        return new InMemoryCache(config, max, context, shards);
    }

    /**
     * Several shards for each core of this machine, but fewer if maxmemory is so small that their reserve would take
     * more than half of it. There is at least one, whose reserve may still not fit; writes are then refused.
     */
    private static int shardsFor(CacheConfig requested) {
        int wanted = SHARDS_PER_CORE * Runtime.getRuntime().availableProcessors();
        int shards = Math.clamp(Integer.highestOneBit(Math.max(1, wanted - 1) << 1), 4, 256);
        int segmentBytes = Math.max(requested.segmentSizeBytes(), SegmentSizing.MIN_BYTES);
        while (shards > 1 && 2 * MemoryReclaimer.reserveBytes(shards, segmentBytes) > requested.maxMemoryBytes()) {
            shards /= 2;
        }
        return shards;
    }

    /** Shards double at staggered loads, so that the sum of their indexes grows smoothly. */
    private static double growLoad(int shard, int shardCount) {
        return Shard.MAX_INDEX_LOAD - Shard.INDEX_LOAD_STAGGER * shard / shardCount;
    }

    /** Refuses a limit beyond the pool's address space, which could not serve it. */
    private void requireAddressSpace(CacheConfig wanted) {
        if (wanted.maxMemoryBytes() > initialMaxBytes) {
            throw new IllegalArgumentException("maxmemory " + wanted.maxMemoryBytes() + ": at most " + initialMaxBytes
                    + " bytes of address space were reserved at start; start with a larger maxmemory");
        }
    }

    /** The highest maxmemory at run time, rounded up to whole segments. */
    private static long maxPoolBytes(CacheConfig config, long wantedBytes) {
        int segmentBytes = config.segmentSizeBytes();
        long usual = Math.max(config.maxMemoryBytes() * SPARE_FACTOR, MIN_SPARE_BYTES);
        long max = Math.max(usual, Math.min(wantedBytes, (long) Location.MAX_SEGMENT * segmentBytes));
        return (max + segmentBytes - 1) / segmentBytes * segmentBytes;
    }

    /**
     * Opens a pool with addresses for two purposes: the many partial segments that shards fill while they hold little,
     * and a later rise of maxmemory. It uses what the system grants; mapped memory that is not written costs nothing.
     * Without the first, open segments are larger than needed. Without the second, maxmemory cannot be raised.
     */
    private static SegmentPool openPool(Regions regions, MemoryBudget budget, CacheConfig config, long needed) {
        int segmentBytes = config.segmentSizeBytes();
        int shards = config.shards();
        long parts = (long) shards * Segments.maxParts(config.maxOpenSegments(), shards, segmentBytes) * segmentBytes;
        long usual = maxPoolBytes(config, 0);
        long[] sizes = regions.mapped() && (needed + parts) / segmentBytes <= Location.MAX_SEGMENT
                ? new long[] {needed + parts, usual + parts, usual}
                : new long[] {needed, usual};
        for (long bytes : sizes) {
            try {
                return new SegmentPool(regions, budget, bytes, segmentBytes);
            } catch (OutOfMemoryError refused) {
                LOG.log(System.Logger.Level.INFO, "The system refused address space; trying less: {0}",
                        refused.getMessage());
            }
        }
        return new SegmentPool(regions, budget, Math.max(config.maxMemoryBytes(), segmentBytes), segmentBytes);
    }

    @Override
    public CacheSession newSession() {
        return new InMemorySession(shards, router, context, config.ticker().wallMillis());
    }

    @Override
    public int shardCount() {
        return shards.length;
    }

    @Override
    public int databaseCount() {
        return config.databases();
    }

    @Override
    public long size(int database) {
        return databases.size(database);
    }

    @Override
    public long size(int database, LongUnaryOperator onSecondary) {
        return databases.size(database, onSecondary);
    }

    @Override
    public long expiringSize(int database) {
        return databases.expiringSize(database);
    }

    @Override
    public void expectKeys(int database, int shard, long keys) {
        databases.expectKeys(database, shard, keys);
    }

    @Override
    public void expectNoKeys() {
        databases.expectNoKeys();
    }

    @Override
    public PointInTimeScan scanAtOneMoment(ItemCapture target) {
        return databases.scanAtOneMoment(target);
    }

    @Override
    public void flush(int database) {
        databases.flush(database);
    }

    @Override
    public void prepareFlushes(int count) {
        databases.prepareFlushes(count);
    }

    @Override
    public void flushAll() {
        databases.flushAll();
    }

    @Override
    public void swap(int first, int second) {
        databases.swap(first, second);
    }

    @Override
    public Epochs epochs() {
        return databases.epochs();
    }

    @Override
    public void resume(Epochs epochs) {
        databases.resume(epochs);
    }

    @Override
    public void renewEpochs(Runnable meanwhile) {
        databases.renewEpochs(meanwhile);
    }

    @Override
    public boolean admit(long bytes) {
        return reclaimer.admit(bytes);
    }

    @Override
    public boolean admit(long bytes, long pinnedBytes) {
        return reclaimer.admit(bytes, pinnedBytes);
    }

    @Override
    public boolean admitUnderLocks(long bytes) {
        return reclaimer.admitUnderLocks(bytes);
    }

    @Override
    public boolean reclaimTo(long usedBytes) {
        return reclaimer.reclaimTo(usedBytes);
    }

    @Override
    public boolean hasFreeMemory(long bytes) {
        return reclaimer.hasAmpleMemory(bytes);
    }

    @Override
    public long footprintBytes(long itemBytes) {
        return reclaimer.footprintBytes(itemBytes);
    }

    @Override
    public @Nullable ValueRun newRun(int headroom, int length) {
        // Other threads may take the memory between the two steps.
        for (int tries = 0; tries < MAX_ATTEMPTS && reclaimer.admit((long) headroom + length); tries++) {
            ValueRun run = context.pool.largeItems().allocate(headroom, length);
            if (run != null) {
                return run;
            }
        }
        return null;
    }

    @Override
    public @Nullable ValueRun newBuffer(int bytes) {
        return reclaimer.fitsWithoutEviction(bytes) ? context.pool.largeItems().allocate(0, bytes) : null;
    }

    @Override
    public int runThresholdBytes() {
        return context.largeThresholdBytes;
    }

    @Override
    public long maintain(Runnable pause) {
        return maintenance.run(pause);
    }

    @Override
    public void returnFreeMemorySoon() {
        maintenance.returnFreeMemorySoon();
    }

    @Override
    public long countExpiredUnreclaimed() {
        long now = config.ticker().wallMillis();
        DueCount count = new DueCount();
        for (Shard shard : shards) {
            boolean all = false;
            while (!all) {
                shard.lock();
                try {
                    all = shard.upkeep().countExpired(count, now, config.ticker().nanoTime() + COUNT_SLICE_NANOS);
                } finally {
                    shard.unlock();
                }
            }
            count.nextStore();
        }
        return count.items();
    }

    @Override
    public CacheStats stats() {
        ShardTotals totals = ShardTotals.of(shards, context.databases);
        SegmentPool pool = context.pool;
        KeyspaceStats.Figures counted = keyspaceStats.figures();
        double load = totals.indexSlots == 0 ? 0 : (double) totals.indexed / totals.indexSlots;
        return new CacheStats(context.budget.limitBytes(), context.budget.chargedBytes(),
                totals.occupiedBytes() + totals.penaltyBytes + learning.bytes() + demand.bytes(), totals.datasetBytes,
                totals.liveBytes,
                totals.deadBytes, pool.segmentBytes(), pool.segmentsInUse(),
                pool.segmentsFree(),
                totals.indexBytes, load, totals.rehashing, totals.expiryBytes, databases(totals, counted),
                counted.expiredUnreclaimed(), totals.hits + context.hits(), totals.misses + context.misses(),
                totals.expired, totals.evicted,
                maintenance.limitedCycles(),
                totals.segmentsCleaned, totals.segmentsFreedWhole, totals.bytesMoved, totals.bytesReclaimed,
                totals.reclaimCost, totals.bytesWritten, totals.fieldsExpired,
                context.pinnedItems.keys(context.databases::isAttached),
                context.pinnedItems.bytes(context.databases::isAttached));
    }

    private static List<CacheStats.Database> databases(ShardTotals totals, KeyspaceStats.Figures counted) {
        CacheStats.Database[] databases = new CacheStats.Database[totals.items.length];
        for (int i = 0; i < databases.length; i++) {
            long expiring = totals.expiringItems[i];
            databases[i] = new CacheStats.Database(totals.items[i], expiring,
                    expiring == 0 ? 0 : counted.averageTtlMillis().get(i), totals.indexBytesOf[i],
                    totals.timedHashes[i]);
        }
        return List.of(databases);
    }

    @Override
    public void resetStats() {
        context.resetLookups();
        for (Shard shard : shards) {
            shard.lock();
            try {
                shard.resetStats();
            } finally {
                shard.unlock();
            }
        }
    }

    @Override
    public @Nullable MemoryCurve curve(int itemClass) {
        return learning.curve(itemClass);
    }

    @Override
    public @Nullable PenaltyReport penalties() {
        return penalties.report();
    }

    @Override
    public int itemClasses() {
        return penalties.classes();
    }

    @Override
    public @Nullable DemandReport demand() {
        return demand.report();
    }

    @Override
    public boolean admitLoaded(int penaltyClass, long bytes) {
        return demand.admitLoaded(penaltyClass, bytes);
    }

    @Override
    public void subscribe(ChangeListener listener) {
        context.subscribe(listener);
    }

    @Override
    public void unsubscribe(ChangeListener listener) {
        context.unsubscribe(listener);
    }

    @Override
    public boolean chargeExternal(long bytes) {
        return context.budget.tryChargeBesideReserve(bytes);
    }

    @Override
    public void attachSecondaryTier(SecondaryTier tier) {
        context.secondary(tier);
        demand.reconfigure(config);
    }

    @Override
    public @Nullable List<HotKeys.HotKey> hotKeys(int database, int count) {
        HotKeys found = context.hotKeys();
        return found == null ? null : found.hottest(context.databases.physical(database), count);
    }

    @Override
    public CacheConfig config() {
        return config;
    }

    @Override
    public long highestMaxMemoryBytes() {
        return initialMaxBytes;
    }

    @Override
    public void reconfigure(CacheConfig wanted) {
        CacheConfig now = config;
        if (wanted.databases() != now.databases() || wanted.shards() != now.shards()
                || wanted.segmentSizeBytes() != now.segmentSizeBytes()
                || wanted.maxOpenSegments() != now.maxOpenSegments()
                || wanted.expireAlgorithm() != now.expireAlgorithm()
                || wanted.expireBaseMillis() != now.expireBaseMillis()
                || wanted.expireBuckets() != now.expireBuckets() || wanted.hashSeed() != now.hashSeed()
                || wanted.penalties().classes() != now.penalties().classes()
                || !Objects.equals(wanted.keySlots(), now.keySlots())) {
            throw new IllegalArgumentException(
                    "databases, shards, segment-size, segment-heads, penalty-classes and the expiry settings are fixed at start");
        }
        requireAddressSpace(wanted);
        context.policies(wanted.evictionPolicy(), wanted.evictionSamples(), wanted.cleanerPolicy());
        context.budget.limit(wanted.maxMemoryBytes());
        context.budget
                .reserve(
                        MemoryReclaimer.keptBytes(wanted.shards(), wanted.segmentSizeBytes(), wanted.maxMemoryBytes()));
        context.findHotKeys(wanted.hotKeys());
        maintenance.reconfigure(wanted);
        penalties.reconfigure(wanted);
        learning.reconfigure(wanted);
        demand.reconfigure(wanted);
        config = wanted;
    }

    @Override
    public void follow(@Nullable Thread thread) {
        context.follower(thread);
    }

    @Override
    public void keepExpired(boolean keep) {
        context.keepExpired(keep);
    }

    /** Visits the memory of index and items that a read of a small item touches: for measurements. */
    public void traceLookup(Key key, LookupTrace.Visitor visitor) {
        Shard shard = shards[key.shard()];
        shard.lock();
        try {
            LookupTrace.follow(context, shard, key, visitor);
        } finally {
            shard.unlock();
        }
    }

    @Override
    public List<String> checkIntegrity() {
        List<String> problems = new ArrayList<>();
        ShardLocks.lockAll(shards);
        try {
            PinnedItems walked = new PinnedItems(Databases.PHYSICAL);
            for (Shard shard : shards) {
                ShardIntegrity.check(shard, context, walked, problems::add);
            }
            problems.addAll(context.pinnedItems.differences(walked));
        } finally {
            for (Shard shard : shards) {
                shard.unlock();
            }
        }
        return problems;
    }

    @Override
    public void close() {
        for (Shard shard : shards) {
            shard.lock();
            try {
                shard.release();
            } finally {
                shard.unlock();
            }
        }
        context.pool.close();
        context.regions.discardRetired();
    }
}
