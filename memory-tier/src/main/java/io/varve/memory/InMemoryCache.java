package io.varve.memory;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongUnaryOperator;

import io.varve.memory.expiry.DueCount;
import io.varve.memory.index.KeyHash;
import io.varve.memory.index.vector.TagScanners;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.ChangeListener;
import io.varve.memory.item.Item;
import io.varve.memory.item.Key;
import io.varve.memory.item.LowerTier;
import io.varve.memory.item.ValueRun;
import io.varve.memory.offheap.Memory;
import io.varve.memory.offheap.MemoryBudget;
import io.varve.memory.offheap.Regions;
import io.varve.memory.segment.Location;
import io.varve.memory.segment.SegmentPool;
import io.varve.memory.segment.SegmentSizing;
import io.varve.memory.segment.Segments;
import io.varve.memory.shard.Databases;
import io.varve.memory.shard.Shard;
import io.varve.memory.shard.ShardContext;
import io.varve.memory.shard.ShardIntegrity;
import io.varve.memory.shard.ShardTotals;
import org.jspecify.annotations.Nullable;

/**
 * The in-memory implementation of the door. Many threads: shards guard themselves; the settings are volatile.
 *
 * <p>Says {@code new} across the rooms of this module.
 */
final class InMemoryCache implements Cache {
    /** How often room is made for a run that others take before it is used. */
    private static final int MOST_TRIES = 16;

    private static final System.Logger LOG = System.getLogger(InMemoryCache.class.getName());

    /** Values from here on live in a run of their own, whatever the segment size, bytes. */
    private static final int LARGE_BYTES = 64 << 10;
    private static final int LARGE_PART_OF_SEGMENT = 4;
    private static final int SHARDS_PER_CORE = 4;
    /** A shard's lock is held no longer when items are counted for whoever asks. */
    private static final long COUNT_SLICE_NANOS = 50_000;
    /** Address space is reserved for maxmemory to be raised to so many times its value at start. */
    private static final long SPARE_FACTOR = 2;
    private static final long LEAST_SPARE_BYTES = 1L << 30;

    private final ShardContext context;
    private final Shard[] shards;
    private final ShardRouter router;
    private final Census census;
    private final Maintenance maintenance;
    private final Room room;
    private final PenaltyLearning penalties;
    private final CurveLearning learning;
    private final DemandWatch demand;
    private final Reclaimer reclaimer;
    private final long mostAtStart;
    private volatile CacheConfig config;

    private InMemoryCache(CacheConfig config, long mostBytes, ShardContext context, Shard[] shards) {
        this.config = config;
        mostAtStart = Math.min(mostBytes, (long) context.pool().maxSegments() * config.segmentSizeBytes());
        this.context = context;
        this.shards = shards;
        this.router = new ShardRouter(shards.length);
        this.reclaimer = new Reclaimer(context, shards);
        this.room = new Room(context, shards, reclaimer);
        this.census = new Census(shards, config.databases(), config.ticker());
        this.penalties = new PenaltyLearning(context, shards, room, config);
        this.learning = new CurveLearning(context, shards, penalties, config);
        this.demand = new DemandWatch(context, shards, room, config);
        this.maintenance = new Maintenance(context, shards, room, reclaimer, census, penalties, learning, demand,
                config);
    }

    /** What its shards share. */
    ShardContext context() {
        return context;
    }

    static InMemoryCache open(CacheConfig asked) {
        return open(asked, 0);
    }

    static InMemoryCache open(CacheConfig asked, long mostBytes) {
        return open(asked, mostBytes, new Regions());
    }

    static InMemoryCache open(CacheConfig asked, Regions regions) {
        return open(asked, 0, regions);
    }

    private static InMemoryCache open(CacheConfig asked, long mostBytes, Regions regions) {
        int shardCount = asked.shards() != 0 ? asked.shards() : shardsFor(asked);
        int segmentBytes = asked.segmentSizeBytes() != 0
                ? asked.segmentSizeBytes()
                : SegmentSizing.auto(asked.maxMemoryBytes(), shardCount, asked.heads());
        CacheConfig config = asked.withShards(shardCount).withSegmentSizeBytes(segmentBytes);
        MemoryBudget budget = new MemoryBudget(config.maxMemoryBytes());
        budget.reserve(Room.keptBytes(shardCount, segmentBytes, config.maxMemoryBytes()));
        // Where memory is not mapped, what is reserved is resident.
        long most = mostMemoryBytes(config, regions.mapped() ? mostBytes : 0);
        SegmentPool pool = openPool(regions, budget, config, most);
        ShardContext context = new ShardContext(regions, budget, pool, new KeyHash(config.hashSeed()),
                TagScanners.best(), new Databases(config.databases()), config.ticker(),
                Math.min(LARGE_BYTES, segmentBytes / LARGE_PART_OF_SEGMENT), config.evictionPolicy(),
                config.evictionSamples(), config.cleanerPolicy(), shardCount);
        Shard[] shards = new Shard[shardCount];
        for (int i = 0; i < shardCount; i++) {
            shards[i] = new Shard(i, context, config.heads(), growLoad(i, shardCount), config.expireAlgorithm(),
                    config.expireBaseMillis(), config.expireBuckets());
        }
        return new InMemoryCache(config, most, context, shards);
    }

    /**
     * Several for each core of this machine, but fewer where maxmemory is so small that their reserve would leave less than half of it:
     * one at the least, which may still be more than fits. Then writes find no room.
     */
    private static int shardsFor(CacheConfig asked) {
        int wanted = SHARDS_PER_CORE * Runtime.getRuntime().availableProcessors();
        int shards = Math.clamp(Integer.highestOneBit(Math.max(1, wanted - 1) << 1), 4, 256);
        int segmentBytes = Math.max(asked.segmentSizeBytes(), SegmentSizing.MIN_BYTES);
        while (shards > 1 && 2 * Room.reserveBytes(shards, segmentBytes) > asked.maxMemoryBytes()) {
            shards /= 2;
        }
        return shards;
    }

    /** Shards double at staggered loads, so that the sum of their indexes grows smoothly. */
    private static double growLoad(int shard, int shardCount) {
        return Shard.MAX_INDEX_LOAD - Shard.INDEX_LOAD_STAGGER * shard / shardCount;
    }

    /** Beyond its address space the pool would refuse what the limit allows. */
    private void requireAddressSpace(CacheConfig wanted) {
        if (wanted.maxMemoryBytes() > mostAtStart) {
            throw new IllegalArgumentException("maxmemory " + wanted.maxMemoryBytes() + ": at most " + mostAtStart
                    + " bytes of address space were reserved at start; start with a larger maxmemory");
        }
    }

    /** The limit, that it may be raised to at run time: so much address space is there in whole segments. */
    private static long mostMemoryBytes(CacheConfig config, long wantedBytes) {
        int segmentBytes = config.segmentSizeBytes();
        long usual = Math.max(config.maxMemoryBytes() * SPARE_FACTOR, LEAST_SPARE_BYTES);
        long most = Math.max(usual, Math.min(wantedBytes, (long) Location.MAX_SEGMENT * segmentBytes));
        return (most + segmentBytes - 1) / segmentBytes * segmentBytes;
    }

    /**
     * A pool with addresses for as many segments as shards fill while they hold little, and for maxmemory to be raised, if the
     * system has them to give: where memory is mapped they cost nothing. Without the first, heads are larger than what is
     * held asks for; without the second, maxmemory stays below what it is at start.
     */
    private static SegmentPool openPool(Regions regions, MemoryBudget budget, CacheConfig config, long needed) {
        int segmentBytes = config.segmentSizeBytes();
        long parts = (long) config.shards() * Segments.mostParts(config.heads()) * segmentBytes;
        long usual = mostMemoryBytes(config, 0);
        long[] sizes = regions.mapped() && (needed + parts) / segmentBytes <= Location.MAX_SEGMENT
                ? new long[] {needed + parts, usual + parts, usual}
                : new long[] {needed, usual};
        for (long bytes : sizes) {
            try {
                return new SegmentPool(regions, budget, bytes, segmentBytes);
            } catch (OutOfMemoryError refused) {
                LOG.log(System.Logger.Level.INFO, "Less address space than would be of use: {0}", refused.getMessage());
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
        long size = 0;
        for (Shard shard : shards) {
            shard.lock();
            try {
                size += shard.keyspace().size(database);
            } finally {
                shard.unlock();
            }
        }
        return size;
    }

    @Override
    public long size(int database, LongUnaryOperator below) {
        long[] size = new long[1];
        boolean counted = underAllLocks(() -> {
            for (Shard shard : shards) {
                size[0] += shard.keyspace().size(database);
            }
            size[0] += below.applyAsLong(context.databases().epoch(database));
            return true;
        });
        assert counted;
        return size[0];
    }

    @Override
    public long expiringSize(int database) {
        long size = 0;
        for (Shard shard : shards) {
            shard.lock();
            try {
                size += shard.keyspace().expiringSize(database);
            } finally {
                shard.unlock();
            }
        }
        return size;
    }

    @Override
    public void flush(int database) {
        while (!underAllLocks(() -> detach(database))) {
            // More flushes in flight than physical databases: this one helps to finish the others.
            helpToReclaim();
        }
    }

    /** Not under a shard's lock: the reclaimer's comes before it. */
    private void helpToReclaim() {
        if (shards[0].isLockedByMe()) {
            throw CacheFullException.INSTANCE;
        }
        reclaimer.reclaimSlice();
    }

    @Override
    public void prepareFlushes(int count) {
        int wanted = Math.min(count, Databases.PHYSICAL - config.databases());
        while (!underAllLocks(() -> context.databases().free() >= wanted)) {
            helpToReclaim();
        }
    }

    private boolean detach(int database) {
        if (!holdsAny(database)) {
            context.databases().renew(database);
        } else if (!context.databases().detach(database)) {
            return false;
        }
        context.tellFlushed(database);
        return true;
    }

    @Override
    public void flushAll() {
        while (!underAllLocks(this::detachAll)) {
            helpToReclaim();
        }
    }

    /**
     * Detaches all databases that hold anything, or none. Under the locks of all shards: a key that is being moved to another
     * database or another shard is in one of them.
     *
     * @return false if too few physical databases are free to take their places
     */
    private boolean detachAll() {
        int full = 0;
        for (int i = 0; i < config.databases(); i++) {
            full += holdsAny(i) ? 1 : 0;
        }
        if (context.databases().free() < full) {
            return false;
        }
        for (int i = 0; i < config.databases(); i++) {
            if (holdsAny(i)) {
                context.databases().detach(i);
            } else {
                context.databases().renew(i);
            }
            context.tellFlushed(i);
        }
        return true;
    }

    private boolean holdsAny(int database) {
        for (Shard shard : shards) {
            if (shard.keyspace().size(database) > 0) {
                return true;
            }
        }
        return false;
    }

    @Override
    public void swap(int first, int second) {
        boolean swapped = underAllLocks(() -> {
            boolean done = context.databases().swap(first, second);
            if (first != second) {
                context.tellSwapped(first, second, this::isThere);
            }
            return done;
        });
        assert swapped;
    }

    /** The locks of all shards are held. */
    private boolean isThere(int database, byte[] name) {
        long bytes = Math.max(Regions.MIN_BYTES, Long.highestOneBit(name.length) << 1);
        long copy = context.regions().allocate(bytes);
        if (copy == 0) {
            // Who asks has to believe the worst.
            return true;
        }
        try {
            Memory.copy(name, 0, copy, name.length);
            CacheSession session = newSession();
            Key key = new Key();
            session.bind(key, database, copy, name.length);
            return session.peek(key, new Item());
        } finally {
            context.regions().free(copy, bytes);
        }
    }

    private boolean underAllLocks(java.util.function.BooleanSupplier action) {
        for (Shard shard : shards) {
            shard.lock();
        }
        try {
            return action.getAsBoolean();
        } finally {
            for (Shard shard : shards) {
                shard.unlock();
            }
        }
    }

    @Override
    public boolean admit(long bytes) {
        return room.admit(bytes);
    }

    @Override
    public boolean admit(long bytes, long pinnedBytes) {
        return room.admit(bytes, pinnedBytes);
    }

    @Override
    public boolean hasRoom(long bytes) {
        return room.isAmple(bytes);
    }

    @Override
    public long takenBy(long itemBytes) {
        return room.takenBy(itemBytes);
    }

    @Override
    public @Nullable ValueRun newRun(int headRoom, int length) {
        // Others may take the room between the two steps.
        for (int tries = 0; tries < MOST_TRIES && room.admit((long) headRoom + length); tries++) {
            ValueRun run = context.pool().largeItems().allocate(headRoom, length);
            if (run != null) {
                return run;
            }
        }
        return null;
    }

    @Override
    public @Nullable ValueRun newBuffer(int bytes) {
        return room.isThereFor(bytes) ? context.pool().largeItems().allocate(0, bytes) : null;
    }

    @Override
    public int runThresholdBytes() {
        return context.largeThresholdBytes();
    }

    @Override
    public long maintain(Runnable giveWay) {
        return maintenance.run(giveWay);
    }

    @Override
    public void giveBackSoon() {
        maintenance.giveBackSoon();
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
        ShardTotals totals = ShardTotals.of(shards, context.databases());
        SegmentPool pool = context.pool();
        Census.Figures counted = census.figures();
        double load = totals.indexSlots == 0 ? 0 : (double) totals.indexed / totals.indexSlots;
        return new CacheStats(context.budget().limitBytes(), context.budget().chargedBytes(),
                totals.takenBytes() + totals.penaltyBytes + learning.bytes() + demand.bytes(), totals.datasetBytes,
                totals.liveBytes,
                totals.deadBytes, context.budget().chargedBytes(), pool.segmentBytes(), pool.segmentsInUse(),
                pool.segmentsFree(),
                totals.indexBytes, load, totals.rehashing, totals.expiryBytes, databases(totals, counted),
                counted.expiredUnreclaimed(), totals.hits, totals.misses, totals.expired, totals.evicted,
                maintenance.limitedCycles(),
                totals.segmentsCleaned, totals.segmentsFreedWhole, totals.bytesMoved, totals.bytesReclaimed,
                totals.reclaimCost, totals.bytesWritten, totals.fieldsExpired);
    }

    private static List<CacheStats.Database> databases(ShardTotals totals, Census.Figures counted) {
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
    public boolean chargeElsewhere(long bytes) {
        return context.budget().tryChargeBesideReserve(bytes);
    }

    @Override
    public void lower(LowerTier tier) {
        context.lower(tier);
        demand.reconfigure(config);
    }

    @Override
    public Epochs epochs() {
        List<Long> epochs = new ArrayList<>();
        long[] next = new long[1];
        boolean read = underAllLocks(() -> {
            for (int i = 0; i < config.databases(); i++) {
                epochs.add(context.databases().epoch(i));
            }
            next[0] = context.databases().nextEpoch();
            return true;
        });
        assert read;
        return new Epochs(epochs, next[0]);
    }

    @Override
    public void resume(Epochs epochs) {
        if (epochs.ofDatabases().size() != config.databases()) {
            throw new IllegalArgumentException(
                    "Epochs of " + epochs.ofDatabases().size() + " databases where there are "
                            + config.databases());
        }
        boolean resumed = underAllLocks(() -> {
            context.databases().resume(epochs.ofDatabases().stream().mapToLong(Long::longValue).toArray(),
                    epochs.next());
            return true;
        });
        assert resumed;
    }

    @Override
    public void renewEpochs(Runnable meanwhile) {
        boolean renewed = underAllLocks(() -> {
            for (int i = 0; i < config.databases(); i++) {
                context.databases().renew(i);
                context.tellFlushed(i);
            }
            meanwhile.run();
            return true;
        });
        assert renewed;
    }

    @Override
    public CacheConfig config() {
        return config;
    }

    @Override
    public void reconfigure(CacheConfig wanted) {
        CacheConfig now = config;
        if (wanted.databases() != now.databases() || wanted.shards() != now.shards()
                || wanted.segmentSizeBytes() != now.segmentSizeBytes() || wanted.heads() != now.heads()
                || wanted.expireAlgorithm() != now.expireAlgorithm()
                || wanted.expireBaseMillis() != now.expireBaseMillis()
                || wanted.expireBuckets() != now.expireBuckets() || wanted.hashSeed() != now.hashSeed()
                || wanted.penalties().classes() != now.penalties().classes()) {
            throw new IllegalArgumentException(
                    "databases, shards, segment-size, heads, penalty-classes and the expiry algorithm with its buckets are fixed at start");
        }
        requireAddressSpace(wanted);
        context.policies(wanted.evictionPolicy(), wanted.evictionSamples(), wanted.cleanerPolicy());
        context.budget().limit(wanted.maxMemoryBytes());
        context.budget()
                .reserve(Room.keptBytes(wanted.shards(), wanted.segmentSizeBytes(), wanted.maxMemoryBytes()));
        maintenance.reconfigure(wanted);
        penalties.reconfigure(wanted);
        learning.reconfigure(wanted);
        demand.reconfigure(wanted);
        config = wanted;
    }

    @Override
    public List<String> checkIntegrity() {
        List<String> problems = new ArrayList<>();
        for (Shard shard : shards) {
            shard.lock();
        }
        try {
            for (Shard shard : shards) {
                ShardIntegrity.check(shard, context, problems::add);
            }
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
        context.pool().close();
        context.regions().discardRetired();
    }
}
