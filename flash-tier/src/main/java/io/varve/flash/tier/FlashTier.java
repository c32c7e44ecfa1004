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
import io.varve.flash.store.FlashStore;
import io.varve.flash.store.Handover;
import io.varve.memory.Cache;
import io.varve.memory.Epochs;
import io.varve.memory.item.Item;
import io.varve.memory.item.LowerTier;
import io.varve.memory.offheap.Memory;

/**
 * The second tier: what memory evicts falls to flash, and comes back when it is asked for. Many threads.
 *
 * <p>A key is in memory or on flash, never in both: what comes back is taken out of the store, and that is handed to the system
 * before anybody sees it in memory. So whoever finds a key in memory may write it and owes flash nothing, and whoever does not,
 * and is told {@link #mightHold maybe}, has it {@link #fetch fetched} first, whatever is to be done with it. A process that is
 * killed leaves nothing on flash that was overwritten or deleted.
 *
 * <p>Three kinds of threads touch files: each {@link Lane} has one, the keeper changes what the state file says and walks over
 * the store, and the walker looks at what is there. Whoever calls in here waits for none of them.
 */
public final class FlashTier implements LowerTier, AutoCloseable {
    private static final System.Logger LOG = System.getLogger(FlashTier.class.getName());
    private static final Cleaner CLEANER = Cleaner.create();
    /** A longer key never falls. */
    public static final int MOST_KEY_BYTES = 16 << 10;
    private static final long CLOSING_SECONDS = 6;
    private static final long WATCH_MILLIS = 100;

    private final TierFiles files;
    private final FlashStore store;
    private final Cache cache;
    private final FlashTierSettings settings;
    private final Handover handover;
    private final Arena arena = Arena.ofShared();
    private final Departures departures = new Departures();
    private final Evictor evictor;
    private final Admission admission;
    private final Counts counts = new Counts();
    private final Lane[] lanes;
    private final List<Thread> threads = new ArrayList<>();
    private final ScheduledExecutorService keeper;
    private final ExecutorService walker;
    private final Sweep sweep;
    private final FilesWatch watch;
    private final Window window;
    private final Loading loading;
    /** Bytes of items that lanes bring back although nobody asked for them, and that memory may not have yet. */
    private final AtomicLong loadingBytes = new AtomicLong();
    private final long policyRamBytes;
    private final long capacity;
    private volatile Holdings holdings;
    private volatile boolean ended;

    private FlashTier(TierFiles files, Cache cache, FlashTierSettings settings) {
        this.files = files;
        this.cache = cache;
        this.settings = settings;
        store = files.store();
        handover = settings.sync() ? Handover.TO_DEVICE : Handover.TO_SYSTEM;
        // There may be more on flash than there may be from now on.
        capacity = Math.max(settings.maxItems(), store.count());
        long policyCapacity = capacity + (long) settings.threads() * Lane.MOST_AT_ONCE;
        evictor = new Evictor(store, settings.policy().create(arena, policyCapacity, new SplittableRandom()), settings,
                departures);
        admission = settings.admission().create(arena, settings.maxItems(), settings.probability());
        policyRamBytes = evictor.ramBytes();
        boolean empty = store.count() == 0;
        holdings = newHoldings(0, empty);
        lanes = new Lane[settings.threads()];
        Arrays.setAll(lanes, _ -> new Lane(settings.queueBytes() / settings.threads(), departures));
        ScheduledThreadPoolExecutor one = new ScheduledThreadPoolExecutor(1,
                Thread.ofPlatform().name("varve-flash-keeper").daemon().factory());
        one.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        keeper = one;
        walker = Executors.newSingleThreadExecutor(Thread.ofPlatform().name("varve-flash-walker").daemon().factory());
        window = new Window(store, lanes);
        sweep = new Sweep(store, cache, evictor, keeper, this::holdings,
                () -> new Turn(store, holdings, Handover.TO_SYSTEM), departures, dead -> leave(dead, false));
        loading = new Loading(store, cache, keeper, this::fetch);
        watch = new FilesWatch(files, evictor, settings, this::nanoTime, cache::epochs);
    }

    /**
     * Puts the tier below a cache in which nothing was written yet, and which was opened with the files' hash seed.
     *
     * @throws IllegalArgumentException if the settings cannot work
     */
    public static FlashTier start(TierFiles files, Cache cache, FlashTierSettings settings) {
        cache.resume(files.epochs());
        FlashTier tier = new FlashTier(files, cache, settings);
        for (int i = 0; i < tier.lanes.length; i++) {
            Lane lane = tier.lanes[i];
            Carrier carrier = new Carrier(tier, lane, cache);
            tier.threads.add(Thread.ofPlatform().name("varve-flash-" + i).daemon().start(carrier::run));
        }
        cache.lower(tier);
        tier.sweep.begin();
        ScheduledFuture<?> watching = tier.keeper.scheduleWithFixedDelay(tier.watch::look, 0, WATCH_MILLIS,
                TimeUnit.MILLISECONDS);
        LOG.log(System.Logger.Level.TRACE, "Watches the files: {0}", watching);
        return tier;
    }

    // --- what falls

    @Override
    public boolean take(long epoch, long hash, Item item, int access, int penaltyClass) {
        long place = ItemKey.place(hash);
        if (!isTakeable(item) || !admission.admits(ItemKey.identity(place, epoch))) {
            counts.notAdmitted.increment();
            return false;
        }
        boolean falls = false;
        try {
            falls = isOpen() && lane(place).hasRoom(bytes(item)) && fall(place, epoch, item, access, penaltyClass);
        } finally {
            if (!falls) {
                counts.shed.increment();
            }
        }
        return falls;
    }

    /**
     * What is chosen by chance, or seen twice, is not asked: an item that is offered is expected to be asked for again. While much is to be taken out that was not yet,
     * what is offered might have to be given up: it is refused. If the last write has failed one is taken at a time, to see whether that is over.
     */
    @Override
    public Answer offer(long epoch, long hash, Item item, int access, int penaltyClass) {
        long place = ItemKey.place(hash);
        Lane lane = lane(place);
        if (!isTakeable(item) || !lane.couldSpare(bytes(item))) {
            return Answer.NEVER;
        }
        return isOpen() && (!watch.isFailing() || lane.depth() == 0) && !departures.areMany()
                && holdings.count() < evictor.mostItems()
                && lane.canSpare(bytes(item))
                && fall(place, epoch, item, access, penaltyClass) ? Answer.TAKEN : Answer.LATER;
    }

    private static int bytes(Item item) {
        return item.keyLength() + item.valueLength();
    }

    private boolean isTakeable(Item item) {
        return item.valueLength() <= settings.maxItemBytes() && item.keyLength() <= MOST_KEY_BYTES
                && evictor.keepsAnything();
    }

    /** Whether anything is taken now. */
    private boolean isOpen() {
        return !watch.isRefusing() && holdings.hasRoom();
    }

    private boolean fall(long place, long epoch, Item item, int access, int penaltyClass) {
        Holdings current = holdings;
        int length = item.valueLength();
        byte[] recordKey = ItemKey.of(place, epoch, Memory.toArray(item.keyAddress(), item.keyLength()));
        byte[] record = ItemRecord.begin(item.type().code(), item.encoding(), access, penaltyClass,
                item.expireAtMillis(), length);
        Memory.copy(item.valueAddress(), record, ItemRecord.VALUE_OFFSET, length);
        // Before it is there, so that whoever does not find it in memory asks.
        current.fell(place, epoch);
        boolean falls = false;
        try {
            falls = lane(place).fall(new Fallen(recordKey, record));
        } finally {
            if (!falls) {
                current.left(place, epoch);
            }
        }
        if (falls) {
            current.canBeFound(place);
        }
        return falls;
    }

    @Override
    public void load(int penaltyClass) {
        // What was on flash at the start and is not counted yet could not be written back.
        sweep.whenComplete(() -> loading.load(penaltyClass));
    }

    /** A key on flash is to go: its lane takes it out, unless it is leaving already. */
    void leave(byte[] recordKey, boolean evicted) {
        Fallen.Name name = new Fallen.Name(recordKey);
        if (departures.begin(name)) {
            lane(ItemKey.placeOf(recordKey)).leave(new Departures.Leaving(name, evicted));
        }
    }

    /** What the store had no room to take out is tried again when there may be some. */
    void leaveLater(Lane lane, List<Departures.Leaving> keys) {
        try {
            ScheduledFuture<?> later = keeper.schedule(() -> keys.forEach(lane::leave), FilesWatch.REFUSAL_NANOS,
                    TimeUnit.NANOSECONDS);
            LOG.log(System.Logger.Level.TRACE, "Later: {0}", later);
        } catch (RejectedExecutionException closing) {
            LOG.log(System.Logger.Level.DEBUG, "The tier is being closed", closing);
        }
    }

    private Lane lane(long place) {
        return lanes[(int) place & lanes.length - 1];
    }

    // --- what is asked for

    /**
     * Whether a key that is not in memory may be on flash: false is sure, under the lock of the key's shard. One that is
     * longer than {@link #MOST_KEY_BYTES} is not.
     *
     * @param hash as memory hashes it
     */
    public boolean mightHold(long epoch, long hash) {
        return holdings.mightHold(ItemKey.place(hash), epoch);
    }

    /**
     * A count that grows whenever the key falls. Who was told that a key is {@link Fetch.Outcome#ABSENT} knows, as long as the
     * count is what it was when it was asked for, that it still is. To be read under the lock of the key's shard to be sure.
     */
    public int falls(long hash) {
        return holdings.falls(ItemKey.place(hash));
    }

    /** Has keys brought back; returns at once. */
    public void fetch(Fetch fetch) {
        long now = nanoTime();
        for (Fetch.Wanted wanted : fetch.begin()) {
            lane(wanted.place()).ask(fetch, wanted, now);
        }
    }

    // --- whose items count

    /**
     * Empties a database, in both tiers. What flash has of it is of no account, whatever becomes of the process, before memory
     * is emptied.
     *
     * @return done when it is; fails if it could not be written down, and then nothing was changed
     */
    public CompletableFuture<Void> flush(int database) {
        return change(epochs -> with(epochs, database, epochs.next(), epochs.next() + 1), () -> cache.flush(database));
    }

    /** {@link #flush} for all databases. */
    public CompletableFuture<Void> flushAll() {
        return CompletableFuture.runAsync(() -> {
            // On a full disk the state file can be taken away at least, and then nothing counts.
            if (!watch.saveOrForget(renewed(cache.epochs()))) {
                throw new IllegalStateException("The state file can neither be written nor taken away");
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
            watch.save(planned.apply(cache.epochs()));
            inMemory.run();
            sweep.begin();
        }, keeper);
    }

    private static Epochs with(Epochs epochs, int database, long epoch, long next) {
        List<Long> changed = new ArrayList<>(epochs.ofDatabases());
        changed.set(database, epoch);
        return new Epochs(changed, next);
    }

    private static Epochs renewed(Epochs epochs) {
        List<Long> renewed = new ArrayList<>();
        for (int i = 0; i < epochs.ofDatabases().size(); i++) {
            renewed.add(epochs.next() + i);
        }
        return new Epochs(renewed, epochs.next() + renewed.size());
    }

    /**
     * Gives up everything on flash: something could not be taken out of it, or read. What is in memory stays, and what falls later
     * is taken again. Waits until that is so.
     *
     * @param seen the holdings that are given up: if they were already, nothing is done
     */
    void giveUp(Holdings seen, Throwable because) {
        try {
            CompletableFuture.runAsync(() -> giveUpNow(seen, because), keeper).join();
        } catch (RejectedExecutionException closing) {
            LOG.log(System.Logger.Level.WARNING, "Flash failed while it was being closed", because);
        } catch (CompletionException failed) {
            LOG.log(System.Logger.Level.ERROR, "Flash could not be given up", failed);
        }
    }

    private void giveUpNow(Holdings seen, Throwable because) {
        refuse();
        if (holdings.isAfter(seen) || seen.isComplete() && seen.count() == 0) {
            // Nothing is there that counts.
            return;
        }
        LOG.log(System.Logger.Level.ERROR,
                "Flash cannot be relied on: all that is there is given up, and the cache goes on in memory", because);
        Epochs renewed = renewed(cache.epochs());
        Holdings fresh = newHoldings(renewed.ofDatabases().getFirst(), true);
        // Where neither can be done it is tried again, and nothing is taken meanwhile.
        watch.saveOrForget(renewed);
        cache.renewEpochs(() -> holdings = fresh);
        counts.givenUp.increment();
        sweep.nothingIsUnknown();
        sweep.begin();
    }

    /** Its memory goes with it: one that is given up is followed by another. */
    private Holdings newHoldings(long firstEpoch, boolean complete) {
        Arena own = Arena.ofShared();
        Holdings made = new Holdings(own, capacity, firstEpoch, complete);
        Cleaner.Cleanable freed = CLEANER.register(made, own::close);
        LOG.log(System.Logger.Level.TRACE, "Will be freed: {0}", freed);
        return made;
    }

    /** A write was refused: for a while nothing is taken. */
    void refuse() {
        watch.refuse();
    }

    /** A write was done. */
    void accepted() {
        watch.accepted();
    }

    // --- what is there

    /**
     * Has a thread of the tier's, which may wait for files, do something that looks at what is there; one thing after the other.
     *
     * @return done when it is
     */
    public CompletableFuture<Void> look(Runnable looking) {
        return CompletableFuture.runAsync(looking, walker);
    }

    /** From now on {@link #show} shows all that has moved since, until {@link #endLook}. */
    public void beginLook() {
        for (Lane lane : lanes) {
            lane.beginLook();
        }
    }

    public void endLook() {
        for (Lane lane : lanes) {
            lane.endLook();
        }
    }

    /** {@link Window#show}; to be called by what {@link #look} was asked to do. */
    public void show(long epoch, int group, long from, long to, RecordVisitor visitor) {
        window.show(epoch, group, from, to, wallMillis(), visitor);
    }

    /** {@link Window#showAny}; to be called by what {@link #look} was asked to do. */
    public boolean showAny(long epoch, RecordVisitor visitor) {
        return window.showAny(epoch, wallMillis(), visitor);
    }

    // --- facts

    /** How many items are on flash, or falling. */
    public long count() {
        return holdings.count();
    }

    /** How many items of an epoch are. */
    public long count(long epoch) {
        return holdings.count(epoch);
    }

    /** Runs it as soon as all that is on flash is known: at once, or some time after the start, by a thread of the tier's. */
    public void whenComplete(Runnable told) {
        sweep.whenComplete(told);
    }

    public FlashTierStats stats() {
        int depth = 0;
        long bytes = 0;
        long waiting = 0;
        for (Lane lane : lanes) {
            depth += lane.depth();
            bytes += lane.fallingBytes();
            waiting += lane.waiting();
        }
        Holdings current = holdings;
        return new FlashTierStats(current.count(), evictor.mostItems(), counts.hits.sum(), counts.misses.sum(),
                counts.promotions.sum(), counts.loaded.sum(), counts.evictions.sum(), counts.expired.sum(),
                counts.corrupt.sum(),
                counts.written.sum(), counts.shed.sum(), counts.notAdmitted.sum(), depth, bytes, waiting,
                watch.fileBytes(), policyRamBytes, current.ramBytes() + admission.ramBytes(), evictor.bytesWritten(),
                watch.deviceBytes(),
                counts.bytesRead.sum(), counts.readMicros(50), counts.readMicros(99), current.isComplete(),
                counts.givenUp.sum(), loading.isLoading(), watch.isFailing());
    }

    Holdings holdings() {
        return holdings;
    }

    FlashStore store() {
        return store;
    }

    Departures departures() {
        return departures;
    }

    Evictor evictor() {
        return evictor;
    }

    Counts counts() {
        return counts;
    }

    AtomicLong loadingBytes() {
        return loadingBytes;
    }

    Turn newTurn() {
        return new Turn(store, holdings, handover);
    }

    long nanoTime() {
        return cache.config().ticker().nanoTime();
    }

    long wallMillis() {
        return cache.config().ticker().wallMillis();
    }

    /** Writes what has fallen, says that nothing follows, and closes the store. To be called when nobody calls in here any more. */
    @Override
    public void close() {
        for (Lane lane : lanes) {
            lane.close();
        }
        window.stop();
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(CLOSING_SECONDS);
        boolean all = true;
        for (Thread thread : threads) {
            all &= ends(thread, deadline);
        }
        walker.shutdown();
        all &= ends(walker, deadline);
        keeper.shutdown();
        all &= ends(keeper, deadline);
        ended = all;
        try {
            files.end(cache.epochs(), all && !watch.isFailing());
        } catch (io.varve.flash.store.StoreException | UncheckedIOException failed) {
            LOG.log(System.Logger.Level.WARNING, "The end of the flash tier could not be written down", failed);
        } finally {
            files.close();
        }
    }

    /** After {@link #close}: whether none of its threads uses the cache any more. */
    public boolean hasEnded() {
        return ended;
    }

    private static boolean ends(Thread thread, long deadline) {
        boolean interrupted = false;
        boolean gone = false;
        while (!gone && deadline - System.nanoTime() > 0) {
            try {
                gone = thread.join(java.time.Duration.ofNanos(Math.max(1, deadline - System.nanoTime())));
            } catch (InterruptedException again) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return gone;
    }

    private static boolean ends(ExecutorService executor, long deadline) {
        try {
            return executor.awaitTermination(Math.max(1, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (InterruptedException again) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
