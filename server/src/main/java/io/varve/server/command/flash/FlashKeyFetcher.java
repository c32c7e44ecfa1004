package io.varve.server.command.flash;

import java.util.BitSet;

import io.varve.flash.tier.Fetch;
import io.varve.flash.tier.FlashTier;
import io.varve.memory.CacheSession;
import io.varve.memory.item.Item;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.batch.Batch;
import io.varve.server.command.batch.PendingFetch;
import io.varve.server.command.session.ParkedCommand;
import io.varve.server.command.session.Transaction;
import io.varve.server.resp.RequestHeapBudget;

/**
 * Fetches a command's keys from the flash tier before the command runs, so that it runs wholly in memory. Confined to
 * its event loop.
 *
 * <p>A key that may be on flash but was not found there is recorded in the batch, with the tier's demotion count. While
 * the count is unchanged under the lock of the key's shard, the key has not been demoted since.
 */
public final class FlashKeyFetcher {
    /**
     * Maximum number of fetches for one command, beside two for every {@link #MAX_KEYS} keys. Fetched keys may be
     * demoted again before the command runs, if memory is too small for them all.
     */
    private static final int MAX_FETCHES = 128;
    /** Maximum keys, and key bytes, of one fetch, for one command and those behind it. */
    private static final int MAX_KEYS = 512;
    private static final int MAX_KEY_BYTES = 256 << 10;

    private final FlashTier tier;
    private final CacheSession session;
    private final RequestHeapBudget memory;
    private final Item item = new Item();
    private final Key keyInOtherDatabase = new Key();
    /** Keys that the running command does not name and that have to be fetched; null if there are none. */
    private @org.jspecify.annotations.Nullable PendingFetch others;
    private ParkedCommand waitForOthers = ParkedCommand.silent();

    /** @param memory heap budget of waiting requests */
    public FlashKeyFetcher(FlashTier tier, CacheSession session, RequestHeapBudget memory) {
        this.tier = tier;
        this.session = session;
        this.memory = memory;
    }

    /** Whether one of the keys may be on flash and is not in memory. Their shards are locked. */
    public boolean isAnyMissing(Batch batch, int first, int count) {
        for (int i = first; i < first + count; i++) {
            if (isMissing(batch, i, batch.key(i))) {
                return true;
            }
        }
        return false;
    }

    /** Whether a key in another database than its command's may be on flash and is not in memory. */
    public boolean isMissing(Batch batch, Key key) {
        return isMissing(batch, Batch.KEY_IN_OTHER_DATABASE, key);
    }

    private boolean isMissing(Batch batch, int index, Key key) {
        long epoch = session.epoch(key.database());
        return mightContain(epoch, key) && !session.peek(key, item)
                && !batch.flashLookups().isAbsent(index, epoch, tier.demotions(key.hash()));
    }

    /**
     * Whether a key that the command does not name may be on flash and is not in memory. If so, records the key for the
     * next fetch. Its shard is locked.
     */
    public boolean deferIfOnFlash(Batch batch, Key key) {
        long epoch = session.epoch(key.database());
        int demotions = tier.demotions(key.hash());
        if (!mightContain(epoch, key) || session.peek(key, item)
                || batch.flashLookups().absentOthers().has(key.hash(), epoch, demotions)) {
            return false;
        }
        if (others == null) {
            ParkedCommand wait = ParkedCommand.silent();
            waitForOthers = wait;
            others = new PendingFetch(wait::resume, memory);
        }
        if (others.fetch().size() == 0 || others.fetch().size() < MAX_KEYS && others.keyBytes() < MAX_KEY_BYTES
                && others.fits()) {
            others.add(Batch.OTHER_KEY, key, epoch, demotions, Memory.toArray(key.address(), key.length()));
        }
        return true;
    }

    /**
     * Checks all keys of a transaction in every other database in which their commands may run. A SELECT before them
     * may be denied at run time, because ACL rules can change at any time, even within the transaction. Executed
     * commands cannot be rolled back, so the keys are checked first. All their shards, which are the same in each
     * database, are locked.
     *
     * @return whether any key may be on flash and is not in memory
     */
    public boolean deferIfAnyOnFlash(Transaction queued) {
        if (!queued.selects()) {
            return false;
        }
        Batch batch = queued.batch();
        BitSet databases = new BitSet();
        databases.set(queued.firstDatabase());
        boolean missing = false;
        for (int i = 0; i < batch.commandCount(); i++) {
            int first = batch.firstKey(i);
            for (int k = first; k < first + batch.keyCount(i); k++) {
                missing |= deferIfOnFlash(batch, batch.key(k), databases);
            }
            int selected = queued.selectedBy(i);
            if (selected >= 0) {
                databases.set(selected);
            }
        }
        return missing;
    }

    private boolean deferIfOnFlash(Batch batch, Key key, BitSet databases) {
        boolean missing = false;
        for (int i = databases.nextSetBit(0); i >= 0; i = databases.nextSetBit(i + 1)) {
            if (i != key.database()) {
                keyInOtherDatabase.bind(key.address(), key.length(), key.hash(), key.shard(), i);
                missing |= deferIfOnFlash(batch, keyInOtherDatabase);
            }
        }
        return missing;
    }

    /** Whether any keys are recorded for fetching. */
    public boolean hasRecordedKeys() {
        return others != null;
    }

    /** Discards the recorded keys. */
    public void discardRecordedKeys() {
        PendingFetch noted = others;
        if (noted != null) {
            others = null;
            noted.release();
        }
    }

    /** Starts the fetch of the recorded keys. */
    public ParkedCommand fetchRecordedKeys(Batch batch) {
        PendingFetch noted = java.util.Objects.requireNonNull(others);
        others = null;
        batch.flashLookups().begin(noted);
        tier.fetch(noted.fetch());
        return waitForOthers;
    }

    /** The end of a wait for keys. */
    public enum Arrival {
        /** All keys that were on flash have been in memory; other keys may have displaced them since. */
        ARRIVED,
        /** Memory has no space for one of them. */
        NO_SPACE,
        /** Flash has failed, and will lose all of its content. */
        FAILED
    }

    /**
     * Fetches the recorded keys and waits for them. The caller holds all shards, and uses no item.
     *
     * @param batch remembers the keys that were not on flash
     * @param meanwhile runs about once a millisecond; if it throws, the wait ends
     */
    public Arrival awaitRecordedKeys(Batch batch, Runnable meanwhile) {
        PendingFetch noted = java.util.Objects.requireNonNull(others);
        others = null;
        if (!tier.fetchUnderLocks(noted.fetch(), meanwhile)) {
            return Arrival.FAILED;
        }
        return noted.settle(batch, 0, 0) ? Arrival.ARRIVED : Arrival.NO_SPACE;
    }

    private boolean mightContain(long epoch, Key key) {
        return tier.mightContain(epoch, key.hash()) && key.length() <= FlashTier.MAX_KEY_BYTES;
    }

    /**
     * Whether another fetch for these keys of one command is allowed. The limit grows with their number and size,
     * because one fetch does not cover many keys.
     *
     * @param databases number of databases in which each key is looked up
     */
    public static boolean mayFetch(Batch batch, int first, int count, int databases) {
        long bytes = 0;
        for (int i = first; i < first + count; i++) {
            bytes += batch.key(i).length();
        }
        return batch.flashLookups().count() < MAX_FETCHES + 2L * count * databases / MAX_KEYS
                + 2 * bytes * databases / MAX_KEY_BYTES;
    }

    /**
     * Fetches the keys of a command that may be on flash, and those of the commands behind it, which would wait for it
     * anyway.
     *
     * @param first number of the command's first key
     * @param inOtherDatabase a key in another database that the command also requested, or null
     */
    public ParkedCommand fetch(Batch batch, int first, @org.jspecify.annotations.Nullable Key inOtherDatabase) {
        ParkedCommand wait = ParkedCommand.silent();
        PendingFetch pendingFetch = new PendingFetch(wait::resume, memory);
        Fetch fetch = pendingFetch.fetch();
        if (inOtherDatabase != null) {
            add(pendingFetch, Batch.KEY_IN_OTHER_DATABASE, inOtherDatabase, batch);
        }
        for (int i = first; i < batch.keyTotal() && fetch.size() < MAX_KEYS
                && pendingFetch.keyBytes() < MAX_KEY_BYTES && (fetch.size() == 0 || pendingFetch.fits()); i++) {
            add(pendingFetch, i, batch.key(i), batch);
        }
        batch.flashLookups().begin(pendingFetch);
        if (fetch.size() == 0) {
            // The key returned to memory while the lock was free.
            pendingFetch.release();
            wait.resume();
        } else {
            tier.fetch(fetch);
        }
        return wait;
    }

    private void add(PendingFetch pendingFetch, int index, Key key, Batch batch) {
        long epoch = session.epoch(key.database());
        int demotions = tier.demotions(key.hash());
        if (mightContain(epoch, key) && !batch.flashLookups().isAbsent(index, epoch, demotions)) {
            pendingFetch.add(index, key, epoch, demotions, Memory.toArray(key.address(), key.length()));
        }
    }

    /**
     * Records the outcome of the last fetch in the batch.
     *
     * @param first number of the command's first key
     * @return whether memory had space for the command's keys
     */
    public boolean settle(Batch batch, int first, int count) {
        PendingFetch pendingFetch = batch.flashLookups().takePending();
        if (pendingFetch == null) {
            return true;
        }
        return pendingFetch.settle(batch, first, count);
    }
}
