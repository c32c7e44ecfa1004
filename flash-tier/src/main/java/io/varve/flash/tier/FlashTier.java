package io.varve.flash.tier;

import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.ref.Cleaner;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;

import io.varve.flash.record.ItemKey;
import io.varve.flash.record.ItemRecord;
import io.varve.flash.store.DurabilityLevel;
import io.varve.flash.store.FlashStore;
import io.varve.flash.store.StoreException;
import io.varve.flash.wait.ShardLoan;
import io.varve.flash.wait.ThreadEnds;
import io.varve.memory.Cache;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemCapture;
import io.varve.memory.item.SecondaryTier;
import io.varve.memory.offheap.Memory;
import io.varve.memory.report.Epochs;

/**
 * The flash tier: it takes the items that memory evicts, and returns them to memory on request. Many threads.
 *
 * <p>INVARIANT: a key is in memory or on flash, never in both. A returning item is removed from the store, and the
 * removal is handed to the system before any thread sees the item in memory. So a thread that finds a key in memory may
 * write it without regard to flash. A thread that does not find it, and gets {@link #mightContain maybe}, must {@link
 * #fetch} it first, for any operation. A killed process leaves no overwritten or deleted item on flash.
 *
 * <p>Three kinds of threads access files: each {@link FlashPartitionQueue} has one, the keeper changes the state file
 * and sweeps over the store, and the scanner scans items. Callers wait for none of them.
 */
public final class FlashTier implements SecondaryTier, AutoCloseable {
    private static final System.Logger LOG = System.getLogger(FlashTier.class.getName());
    private static final Cleaner CLEANER = Cleaner.create();
    /** Maximum length of a key: longer ones are never demoted. */
    public static final int MAX_KEY_BYTES = 16 << 10;
    private static final long CLOSING_SECONDS = 6;
    private static final long WATCH_MILLIS = 100;

    private final TierFiles files;
    private final FlashStore store;
    private final Cache cache;
    private final FlashTierSettings settings;
    private final DurabilityLevel durability;
    private final Arena arena = Arena.ofShared();
    private final PendingRemovals removals = new PendingRemovals();
    private final Evictor evictor;
    private final Admission admission;
    private final Counts counts = new Counts();
    private final FlashPartitionQueue[] partitionQueues;
    private final FlashCaptures captures;
    private final TierLoad load;
    private final List<Thread> threads = new ArrayList<>();
    private final ScheduledExecutorService keeper;
    private final ExecutorService scanner;
    private final Sweep sweep;
    private final StoreHealth health;
    private final FlashScan scan;
    private final ClassPreload preload;
    private final ShardLoan loan = new ShardLoan();
    /** Bytes of items that workers preload, and that memory may not hold yet. */
    private final AtomicLong loadingBytes = new AtomicLong();
    private final long policyRamBytes;
    private final long capacity;
    private volatile ResidencyFilter residency;
    private volatile boolean ended;

    private FlashTier(TierFiles files, Cache cache, FlashTierSettings settings) {
        this.files = files;
        this.cache = cache;
        this.settings = settings;
        store = files.store();
        durability = settings.sync() ? DurabilityLevel.TO_DEVICE : DurabilityLevel.TO_SYSTEM;
        // The store may hold more items than the current maximum.
        capacity = Math.max(settings.maxItems(), store.count());
        long policyCapacity = capacity + (long) settings.threads() * FlashPartitionQueue.MAX_BATCH;
        evictor = new Evictor(store, settings.policy().create(arena, policyCapacity, new SplittableRandom()), settings,
                removals);
        admission = settings.admission().create(arena, settings.maxItems(), settings.probability());
        policyRamBytes = evictor.ramBytes();
        boolean empty = store.count() == 0;
        residency = newResidencyFilter(0, empty);
        partitionQueues = new FlashPartitionQueue[settings.threads()];
        Arrays.setAll(partitionQueues,
                _ -> new FlashPartitionQueue(settings.queueBytes() / settings.threads(), removals));
        captures = new FlashCaptures(store, partitionQueues);
        load = new TierLoad(store, evictor, counts);
        ScheduledThreadPoolExecutor one = new ScheduledThreadPoolExecutor(1,
                Thread.ofPlatform().name("varve-flash-keeper").daemon().factory());
        one.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        keeper = one;
        scanner = Executors.newSingleThreadExecutor(Thread.ofPlatform().name("varve-flash-scanner").daemon().factory());
        scan = new FlashScan(store, partitionQueues);
        sweep = new Sweep(store, cache, evictor, keeper, this::residency,
                () -> new StoreWriteBatch(store, residency, DurabilityLevel.TO_SYSTEM), removals,
                dead -> remove(dead, false));
        preload = new ClassPreload(store, cache, keeper, this::fetch);
        health = new StoreHealth(files, evictor, settings, this::nanoTime, cache::epochs);
    }

    /**
     * Starts the tier below a cache that has no items yet and was opened with the files' hash seed.
     *
     * @throws IllegalArgumentException if a setting is invalid
     */
    public static FlashTier start(TierFiles files, Cache cache, FlashTierSettings settings) {
        cache.resume(files.epochs());
        FlashTier tier = new FlashTier(files, cache, settings);
        for (int i = 0; i < tier.partitionQueues.length; i++) {
            FlashPartitionQueue partitionQueue = tier.partitionQueues[i];
            FlashWorker worker = new FlashWorker(tier, partitionQueue, tier.captures.walk(i), cache);
            tier.threads.add(Thread.ofPlatform().name("varve-flash-" + i).daemon().start(worker::run));
        }
        cache.attachSecondaryTier(tier);
        tier.sweep.begin();
        ScheduledFuture<?> watching = tier.keeper.scheduleWithFixedDelay(tier.health::check, 0, WATCH_MILLIS,
                TimeUnit.MILLISECONDS);
        LOG.log(System.Logger.Level.TRACE, "Watches the files: {0}", watching);
        return tier;
    }

    // --- demotion

    @Override
    public boolean take(long epoch, long hash, Item item, int access, int penaltyClass) {
        long place = ItemKey.place(hash);
        if (load.isOpen()) {
            return isTakeable(item) && !health.isRefusing() && load.hasSpace(residency)
                    && demote(place, epoch, item, access, penaltyClass);
        }
        if (!isTakeable(item) || !admission.admits(ItemKey.identity(place, epoch))) {
            counts.notAdmitted.increment();
            return false;
        }
        boolean queued = false;
        try {
            queued = isOpen() && queueOf(place).hasSpace(bytes(item))
                    && demote(place, epoch, item, access, penaltyClass);
        } finally {
            if (!queued) {
                counts.shed.increment();
            }
        }
        return queued;
    }

    /**
     * Offered items bypass the random and reject-first admission, since they are expected to be requested again. While
     * many removals are pending, an offer is refused, because its item might have to be dropped. After a failed write
     * one item is accepted at a time, to probe the store.
     */
    @Override
    public Answer offer(long epoch, long hash, Item item, int access, int penaltyClass) {
        long place = ItemKey.place(hash);
        FlashPartitionQueue partitionQueue = queueOf(place);
        if (!isTakeable(item) || !partitionQueue.canEverAccept(bytes(item))) {
            return Answer.NEVER;
        }
        return isOpen() && (!health.isFailing() || partitionQueue.depth() == 0) && !removals.isNearLimit()
                && residency.count() < evictor.maxItems()
                && partitionQueue.canAccept(bytes(item))
                && demote(place, epoch, item, access, penaltyClass) ? Answer.TAKEN : Answer.LATER;
    }

    private static int bytes(Item item) {
        return item.keyLength() + item.valueLength();
    }

    private boolean isTakeable(Item item) {
        return item.valueLength() <= settings.maxItemBytes() && item.keyLength() <= MAX_KEY_BYTES
                && evictor.isEnabled();
    }

    /** Whether items are accepted at this moment. */
    private boolean isOpen() {
        return !health.isRefusing() && residency.hasSpace();
    }

    private boolean demote(long place, long epoch, Item item, int access, int penaltyClass) {
        ResidencyFilter current = residency;
        FlashCapture capture = captures.open();
        int length = item.valueLength();
        byte[] recordKey = ItemKey.of(place, epoch, Memory.toArray(item.keyAddress(), item.keyLength()));
        byte[] record = ItemRecord.begin(item.type().code(), item.encoding(), access, penaltyClass,
                item.expireAtMillis(), length, capture == null ? ItemRecord.NO_SCAN : capture.scanId());
        Memory.copy(item.valueAddress(), record, ItemRecord.valueOffset(record), length);
        // Registered before it is visible, so that a reader that misses it in memory looks on flash.
        current.addDemoted(place, epoch);
        boolean queued = false;
        try {
            queued = load.isOpen()
                    ? load.write(recordKey, record)
                    : queueOf(place).demote(new DemotedItem(recordKey, record));
        } finally {
            if (!queued) {
                current.remove(place, epoch);
            }
        }
        if (queued) {
            current.invalidateAbsence(place);
        }
        return queued;
    }

    @Override
    public void load(int penaltyClass) {
        // Items that were on flash at the start and are not registered yet could not be written back.
        sweep.whenComplete(() -> preload.load(penaltyClass));
    }

    /** Removes a key on flash by means of its worker, unless its removal is pending. */
    void remove(byte[] recordKey, boolean evicted) {
        DemotedItem.Name name = new DemotedItem.Name(recordKey);
        if (removals.begin(name)) {
            queueOf(ItemKey.placeOf(recordKey)).queueRemoval(new PendingRemovals.PendingRemoval(name, evicted));
        }
    }

    /** Retries removals for which the store had no space. */
    void retryRemovals(FlashPartitionQueue partitionQueue, List<PendingRemovals.PendingRemoval> keys) {
        try {
            ScheduledFuture<?> later = keeper.schedule(() -> keys.forEach(partitionQueue::queueRemoval),
                    StoreHealth.REFUSAL_NANOS,
                    TimeUnit.NANOSECONDS);
            LOG.log(System.Logger.Level.TRACE, "Later: {0}", later);
        } catch (RejectedExecutionException closing) {
            LOG.log(System.Logger.Level.DEBUG, "The tier is closing", closing);
        }
    }

    private FlashPartitionQueue queueOf(long place) {
        return partitionQueues[(int) place & partitionQueues.length - 1];
    }

    // --- requests

    /**
     * Whether a key that is not in memory may be on flash: false is certain, under the lock of the key's shard. A key
     * longer than {@link #MAX_KEY_BYTES} is never there.
     *
     * @param hash the key's hash in memory
     */
    public boolean mightContain(long epoch, long hash) {
        return residency.mightContain(ItemKey.place(hash), epoch);
    }

    /**
     * A counter that grows whenever the key is demoted. An outcome of {@link Fetch.Outcome#ABSENT} stays valid as long
     * as the counter has its value from the request. To be sure, read it under the lock of the key's shard.
     */
    public int demotions(long hash) {
        return residency.demotions(ItemKey.place(hash));
    }

    /** Requests that keys return to memory; does not wait. */
    public void fetch(Fetch fetch) {
        long now = nanoTime();
        for (Fetch.RequestedKey requestedKey : fetch.begin()) {
            queueOf(requestedKey.place()).request(fetch, requestedKey, now);
        }
    }

    /**
     * Requests that keys return to memory, and waits for them. The caller holds the locks of all shards, and uses no
     * item; it does the tier's work under these locks meanwhile. Memory may evict other items for the keys.
     *
     * @param meanwhile runs about once a millisecond; if it throws, the wait ends
     * @return false if flash has failed: all of its content will be dropped once the caller has released the shards
     */
    public boolean fetchUnderLocks(Fetch fetch, Runnable meanwhile) {
        return loan.lend(() -> fetch(fetch), fetch::isComplete, meanwhile);
    }

    // --- epochs

    /**
     * Empties a database, in both tiers. Its items on flash are invalid, whatever happens to the process, before memory
     * is emptied.
     *
     * @return completes afterwards; fails if the epochs could not be saved, and then nothing has changed
     */
    public CompletableFuture<Void> flush(int database) {
        return change(epochs -> epochs.renewed(database), () -> cache.flush(database));
    }

    /** {@link #flush} for all databases. */
    public CompletableFuture<Void> flushAll() {
        return CompletableFuture.runAsync(() -> {
            // On a full disk the state file can at least be deleted, and then no item is valid.
            if (!health.saveOrForget(cache.epochs().renewed())) {
                throw new IllegalStateException("The state file can be neither written nor deleted");
            }
            cache.flushAll();
            sweep.begin();
        }, keeper);
    }

    /** Exchanges two databases, in both tiers. */
    public CompletableFuture<Void> swap(int first, int second) {
        return change(epochs -> {
            List<Long> swapped = new ArrayList<>(epochs.ofDatabases());
            Collections.swap(swapped, first, second);
            return new Epochs(swapped, epochs.next());
        }, () -> cache.swap(first, second));
    }

    private CompletableFuture<Void> change(UnaryOperator<Epochs> planned, Runnable inMemory) {
        return CompletableFuture.runAsync(() -> {
            health.save(planned.apply(cache.epochs()));
            inMemory.run();
            sweep.begin();
        }, keeper);
    }

    /**
     * Invalidates everything on flash, because a removal or a read failed. Items in memory stay, and later demotions
     * are accepted again. Waits until that is done.
     *
     * @param seen the filter that is replaced: if it was replaced already, nothing is done
     */
    void invalidateAll(ResidencyFilter seen, Throwable because) {
        try {
            CompletableFuture.runAsync(() -> invalidateAllNow(seen, because), keeper).join();
        } catch (RejectedExecutionException closing) {
            LOG.log(System.Logger.Level.WARNING, "The flash tier failed while it was closed", because);
        } catch (CompletionException failed) {
            LOG.log(System.Logger.Level.ERROR, "The flash tier could not be dropped", failed);
        }
    }

    private void invalidateAllNow(ResidencyFilter seen, Throwable because) {
        refuse();
        if (residency.isAfter(seen) || seen.isComplete() && seen.count() == 0) {
            // There are no valid items.
            return;
        }
        LOG.log(System.Logger.Level.ERROR,
                "The flash tier is unreliable: its content is dropped, and the cache continues in memory", because);
        Epochs renewed = cache.epochs().renewed();
        ResidencyFilter fresh = newResidencyFilter(renewed.ofDatabases().getFirst(), true);
        // If both fail, they are retried, and no item is accepted meanwhile.
        health.saveOrForget(renewed);
        cache.renewEpochs(() -> residency = fresh);
        counts.invalidations.increment();
        sweep.nothingIsUnknown();
        sweep.begin();
    }

    /** Creates a filter with its own memory: a replaced filter is followed by another. */
    private ResidencyFilter newResidencyFilter(long firstEpoch, boolean complete) {
        Arena own = Arena.ofShared();
        ResidencyFilter made = new ResidencyFilter(own, capacity, firstEpoch, complete);
        Cleaner.Cleanable freed = CLEANER.register(made, own::close);
        LOG.log(System.Logger.Level.TRACE, "Will be freed: {0}", freed);
        return made;
    }

    /** Reports a refused write: for a while no item is accepted. */
    void refuse() {
        health.refuse();
    }

    /** Reports a successful write. */
    void accepted() {
        health.accepted();
    }

    // --- scans

    /**
     * Runs a scan on a thread of the tier's, which may wait for files; scans are serialized.
     *
     * @return completes afterwards
     */
    public CompletableFuture<Void> runScan(Runnable task) {
        return CompletableFuture.runAsync(task, scanner);
    }

    /** Begins a scan: {@link #visit} visits all items that are moved until {@link #endScan}. */
    public void beginScan() {
        for (FlashPartitionQueue partitionQueue : partitionQueues) {
            partitionQueue.beginScan();
        }
    }

    public void endScan() {
        for (FlashPartitionQueue partitionQueue : partitionQueues) {
            partitionQueue.endScan();
        }
    }

    /** {@link FlashScan#visit}; may only be called within {@link #runScan}. */
    public void visit(long epoch, int group, long from, long to, RecordVisitor visitor) {
        scan.visit(epoch, group, from, to, wallMillis(), visitor);
    }

    /** {@link FlashScan#visitAny}; may only be called within {@link #runScan}. */
    public boolean visitAny(long epoch, RecordVisitor visitor) {
        return scan.visitAny(epoch, wallMillis(), visitor);
    }

    // --- point-in-time scans

    @Override
    public boolean mightHold(long epoch) {
        ResidencyFilter current = residency;
        return !current.isComplete() || current.count(epoch) > 0;
    }

    @Override
    public void beginCapture(ItemCapture target, long startMillis, long[] epochs) {
        captures.begin(target, startMillis, epochs);
    }

    @Override
    public boolean capture() {
        return captures.step();
    }

    @Override
    public void endCapture() {
        captures.end();
    }

    // --- loading

    /**
     * Begins to load data into an empty tier: until {@link #endLoad} it writes each demoted item at once, and evicts
     * none.
     */
    public void beginLoad() {
        load.begin();
    }

    /**
     * Ends the load.
     *
     * @throws StoreException if an item may have been lost
     */
    public void endLoad() {
        load.end();
    }

    /** Whether it is certain that no item is on flash. */
    public boolean isEmpty() {
        ResidencyFilter current = residency;
        return current.isComplete() && current.count() == 0;
    }

    @Override
    public boolean keepsAll() {
        return load.isOpen();
    }

    // --- counters

    /** Number of items on flash, or in transit to it. */
    public long count() {
        return residency.count();
    }

    /** Number of items of an epoch. */
    @Override
    public long count(long epoch) {
        return residency.count(epoch);
    }

    /**
     * Runs a callback once all items on flash are known: immediately, or some time after the start, on a thread of the
     * tier's.
     */
    public void whenComplete(Runnable callback) {
        sweep.whenComplete(callback);
    }

    public FlashTierStats stats() {
        int depth = 0;
        long bytes = 0;
        long waiting = 0;
        for (FlashPartitionQueue partitionQueue : partitionQueues) {
            depth += partitionQueue.depth();
            bytes += partitionQueue.demotingBytes();
            waiting += partitionQueue.waiting();
        }
        ResidencyFilter current = residency;
        return new FlashTierStats(current.count(), evictor.maxItems(), counts.hits.sum(), counts.misses.sum(),
                counts.promotions.sum(), counts.loaded.sum(), counts.evictions.sum(), counts.expired.sum(),
                counts.corrupt.sum(),
                counts.written.sum(), counts.shed.sum(), counts.notAdmitted.sum(), depth, bytes, waiting,
                health.fileBytes(), policyRamBytes, current.ramBytes() + admission.ramBytes(), evictor.bytesWritten(),
                health.deviceBytes(),
                counts.bytesRead.sum(), counts.readMicros(50), counts.readMicros(99), current.isComplete(),
                counts.invalidations.sum(), preload.isLoading(), health.isFailing());
    }

    ResidencyFilter residency() {
        return residency;
    }

    FlashCaptures captures() {
        return captures;
    }

    FlashStore store() {
        return store;
    }

    PendingRemovals removals() {
        return removals;
    }

    Evictor evictor() {
        return evictor;
    }

    Counts counts() {
        return counts;
    }

    ShardLoan loan() {
        return loan;
    }

    AtomicLong loadingBytes() {
        return loadingBytes;
    }

    StoreWriteBatch newWriteBatch() {
        return new StoreWriteBatch(store, residency, durability);
    }

    long nanoTime() {
        return cache.config().ticker().nanoTime();
    }

    long wallMillis() {
        return cache.config().ticker().wallMillis();
    }

    /**
     * Writes demoted items, marks a clean end, and closes the store. Must be called after all other calls to the tier
     * have ended.
     */
    @Override
    public void close() {
        for (FlashPartitionQueue partitionQueue : partitionQueues) {
            partitionQueue.close();
        }
        scan.stop();
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(CLOSING_SECONDS);
        boolean all = true;
        for (Thread thread : threads) {
            all &= ThreadEnds.awaitEnd(thread, deadline);
        }
        scanner.shutdown();
        all &= ThreadEnds.awaitEnd(scanner, deadline);
        keeper.shutdown();
        all &= ThreadEnds.awaitEnd(keeper, deadline);
        ended = all;
        try {
            files.end(cache.epochs(), all && !health.isFailing());
        } catch (StoreException | UncheckedIOException failed) {
            LOG.log(System.Logger.Level.WARNING, "The clean end of the flash tier could not be recorded", failed);
        } finally {
            files.close();
        }
    }

    /** After {@link #close}: whether all its threads have stopped using the cache. */
    public boolean hasEnded() {
        return ended;
    }
}
