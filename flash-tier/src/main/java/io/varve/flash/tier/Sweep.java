package io.varve.flash.tier;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.varve.flash.record.ItemKey;
import io.varve.flash.store.FlashStore;
import io.varve.flash.store.KeyWalk;
import io.varve.memory.Cache;
import io.varve.memory.Epochs;

/**
 * The keeper's walk over the store's keys, some at a time: after a start it tells the holdings what is there; and whenever a database
 * was emptied it hands what was left of it to the lanes, which take it out. Confined to the keeper's thread, but for {@link #begin} and {@link #whenComplete}.
 */
final class Sweep {
    private static final System.Logger LOG = System.getLogger(Sweep.class.getName());
    /** Keys under one hold of the walk's lock, and holds in one task. */
    private static final int KEYS_AT_ONCE = 16;
    private static final int HOLDS_AT_ONCE = 32;
    private static final long PAUSE_MILLIS = 1;
    private static final long PAUSE_AFTER_FAILURE_MILLIS = 1000;

    private static final byte[] BEGINNING = {};

    private final Cache cache;
    private final Evictor evictor;
    private final ScheduledExecutorService keeper;
    private final Supplier<Holdings> holdings;
    private final Supplier<Turn> turns;
    private final Departures departures;
    private final Consumer<byte[]> leave;
    private final KeyWalk walk;
    private final List<Runnable> waiting = new ArrayList<>();
    private boolean running;
    private boolean again;
    /** Where the next slice begins. */
    private byte[] from = BEGINNING;
    private Set<Long> living = Set.of();
    private long firstUnused;

    /** @param leave hands a key to its lane, which takes it out */
    Sweep(FlashStore store, Cache cache, Evictor evictor, ScheduledExecutorService keeper, Supplier<Holdings> holdings,
            Supplier<Turn> turns, Departures departures, Consumer<byte[]> leave) {
        this.cache = cache;
        this.evictor = evictor;
        this.keeper = keeper;
        this.holdings = holdings;
        this.turns = turns;
        this.departures = departures;
        this.leave = leave;
        walk = store.walk();
    }

    /** A walk over everything begins soon. */
    void begin() {
        submit(this::start, 0);
    }

    private void submit(Runnable task, long delayMillis) {
        try {
            ScheduledFuture<?> scheduled = keeper.schedule(task, delayMillis, TimeUnit.MILLISECONDS);
            LOG.log(System.Logger.Level.TRACE, "Goes on: {0}", scheduled);
        } catch (RejectedExecutionException closing) {
            LOG.log(System.Logger.Level.DEBUG, "The tier is being closed", closing);
        }
    }

    private void start() {
        if (running) {
            again = true;
            return;
        }
        again = false;
        from = BEGINNING;
        Epochs epochs = cache.epochs();
        living = new HashSet<>(epochs.ofDatabases());
        firstUnused = epochs.next();
        running = true;
        step();
    }

    private void step() {
        try {
            boolean more = true;
            for (int i = 0; i < HOLDS_AT_ONCE && more && !departures.areMany(); i++) {
                more = slice();
            }
            if (more) {
                submit(this::step, PAUSE_MILLIS);
                return;
            }
            running = false;
            holdings.get().forgetEpochs(living, firstUnused);
            if (again) {
                start();
            }
        } catch (RuntimeException | Error failed) {
            LOG.log(System.Logger.Level.WARNING, "The walk over the flash tier's keys is interrupted", failed);
            submit(this::step, PAUSE_AFTER_FAILURE_MILLIS);
        }
    }

    /**
     * One hold of the walk's lock. What is met is counted, and what is to go handed over, when nothing can fail any more: a slice
     * that failed is done again from its beginning.
     *
     * @return whether there is more
     */
    private boolean slice() {
        Holdings current = holdings.get();
        boolean telling = !current.isComplete();
        List<byte[]> fresh = new ArrayList<>();
        List<byte[]> dead = new ArrayList<>();
        boolean more;
        if (telling) {
            current.lockWalk();
        }
        try {
            more = slice(current, telling, fresh, dead);
            if (telling && !more) {
                complete(current);
            }
        } finally {
            if (telling) {
                current.unlockWalk();
            }
        }
        for (byte[] recordKey : fresh) {
            evictor.inserted(ItemKey.placeOf(recordKey));
        }
        dead.forEach(leave);
        return more;
    }

    private boolean slice(Holdings current, boolean telling, List<byte[]> fresh, List<byte[]> dead) {
        // What the walk read ahead before may be gone.
        walk.seek(from);
        Turn turn = turns.get();
        List<byte[]> met = new ArrayList<>();
        boolean more = true;
        byte[] last = from;
        for (int i = 0; i < KEYS_AT_ONCE && more; i++) {
            more = walk.next();
            if (more) {
                last = walk.key();
                if (ItemKey.isKey(last)) {
                    met.add(last);
                } else {
                    turn.discard(last);
                }
            }
        }
        turn.run();
        for (byte[] recordKey : met) {
            // What is to go is counted too, until its lane says that it has left.
            boolean isFresh = telling && current.met(recordKey);
            if (isDead(recordKey)) {
                dead.add(recordKey);
            } else if (isFresh) {
                fresh.add(recordKey);
            }
        }
        // Right behind the last key.
        from = more ? Arrays.copyOf(last, last.length + 1) : BEGINNING;
        return more;
    }

    private boolean isDead(byte[] recordKey) {
        long epoch = ItemKey.epochOf(recordKey);
        return !living.contains(epoch) && epoch < firstUnused;
    }

    private void complete(Holdings current) {
        List<Runnable> told;
        synchronized (waiting) {
            current.completed();
            told = new ArrayList<>(waiting);
            waiting.clear();
        }
        told.forEach(Runnable::run);
    }

    /** The holdings were replaced by such that know everything: who waits for the walk need not. */
    void nothingIsUnknown() {
        List<Runnable> told;
        synchronized (waiting) {
            told = new ArrayList<>(waiting);
            waiting.clear();
        }
        told.forEach(Runnable::run);
    }

    /** Runs it once the holdings know all that is there. */
    void whenComplete(Runnable told) {
        synchronized (waiting) {
            if (!holdings.get().isComplete()) {
                waiting.add(told);
                return;
            }
        }
        told.run();
    }
}
