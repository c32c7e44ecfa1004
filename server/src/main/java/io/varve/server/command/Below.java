package io.varve.server.command;

import java.util.BitSet;

import io.varve.flash.tier.Fetch;
import io.varve.flash.tier.FlashTier;
import io.varve.memory.CacheSession;
import io.varve.memory.item.Item;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.server.resp.ArgumentMemory;

/**
 * What has to be done about the tier below memory before a command runs: keys that may be there are fetched, and then the command
 * runs wholly in memory. Confined to its event loop.
 *
 * <p>A key that may be on flash and was not found there is noted with the batch, with the tier's count of falls: as long as it is
 * the same under the lock of the key's shard, the key has not fallen since.
 */
public final class Below {
    /**
     * How often the keys of one command are fetched, beside once for every {@link #MOST_KEYS}: they may fall again before it runs,
     * if memory is too small for them all.
     */
    private static final int MOST_FETCHES = 128;
    /** What is fetched at once: keys, and bytes of them, be they of one command or of those behind it too. */
    private static final int MOST_KEYS = 512;
    private static final int MOST_KEY_BYTES = 256 << 10;

    private final FlashTier tier;
    private final CacheSession session;
    private final ArgumentMemory memory;
    private final Item item = new Item();
    private final Key keyElsewhere = new Key();
    /** Keys that the command which runs does not name and that have to be fetched; null if there are none. */
    private @org.jspecify.annotations.Nullable Fetching others;
    private Suspension waitForOthers = Suspension.silent();

    /** @param memory what waiting requests may take of the heap */
    public Below(FlashTier tier, CacheSession session, ArgumentMemory memory) {
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

    /** The same for a key in another database than its command's. */
    boolean isMissing(Batch batch, Key key) {
        return isMissing(batch, Batch.KEY_ELSEWHERE, key);
    }

    private boolean isMissing(Batch batch, int index, Key key) {
        long epoch = session.epoch(key.database());
        return mightHold(epoch, key) && !session.peek(key, item)
                && !batch.isKnownAbsent(index, epoch, tier.falls(key.hash()));
    }

    /**
     * Whether a key that the command does not name may be on flash and is not in memory: it is then noted to be fetched with others.
     * Its shard is locked.
     */
    boolean noteIfMissing(Batch batch, Key key) {
        long epoch = session.epoch(key.database());
        int falls = tier.falls(key.hash());
        if (!mightHold(epoch, key) || session.peek(key, item) || batch.absentOthers().has(key.hash(), epoch, falls)) {
            return false;
        }
        if (others == null) {
            Suspension wait = Suspension.silent();
            waitForOthers = wait;
            others = new Fetching(wait::again, memory);
        }
        if (others.fetch().size() == 0 || others.fetch().size() < MOST_KEYS && others.keyBytes() < MOST_KEY_BYTES
                && others.hasRoom()) {
            others.add(Batch.OTHER_KEY, key, epoch, falls, Memory.toArray(key.address(), key.length()));
        }
        return true;
    }

    /**
     * The same for all keys of a transaction in every other database in which their commands may run: a SELECT in front of them may
     * be refused when it runs, for rules of users change at any time, and by the transaction itself. What has run then cannot be taken
     * back, so it is looked at before. All their shards, which are the same in each database, are locked.
     */
    public boolean noteIfAnyMissing(Transaction queued) {
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
                missing |= noteIfMissing(batch, batch.key(k), databases);
            }
            int selected = queued.selectedBy(i);
            if (selected >= 0) {
                databases.set(selected);
            }
        }
        return missing;
    }

    private boolean noteIfMissing(Batch batch, Key key, BitSet databases) {
        boolean missing = false;
        for (int i = databases.nextSetBit(0); i >= 0; i = databases.nextSetBit(i + 1)) {
            if (i != key.database()) {
                keyElsewhere.bind(key.address(), key.length(), key.hash(), key.shard(), i);
                missing |= noteIfMissing(batch, keyElsewhere);
            }
        }
        return missing;
    }

    /** Whether any were noted. */
    public boolean hasOthers() {
        return others != null;
    }

    /** Nothing is to be fetched of what was noted. */
    void dropOthers() {
        Fetching noted = others;
        if (noted != null) {
            others = null;
            noted.release();
        }
    }

    /** Has the keys fetched that were noted. */
    public Suspension fetchOthers(Batch batch) {
        Fetching noted = java.util.Objects.requireNonNull(others);
        others = null;
        batch.fetching(noted);
        tier.fetch(noted.fetch());
        return waitForOthers;
    }

    private boolean mightHold(long epoch, Key key) {
        return tier.mightHold(epoch, key.hash()) && key.length() <= FlashTier.MOST_KEY_BYTES;
    }

    /**
     * Whether these keys, of one command, are fetched once more: if they are many more often, as not all are fetched at once.
     *
     * @param databases in how many each is looked for
     */
    public static boolean mayFetch(Batch batch, int first, int count, int databases) {
        long bytes = 0;
        for (int i = first; i < first + count; i++) {
            bytes += batch.key(i).length();
        }
        return batch.fetches() < MOST_FETCHES + 2L * count * databases / MOST_KEYS
                + 2 * bytes * databases / MOST_KEY_BYTES;
    }

    /**
     * Has the keys of a command fetched that may be on flash, and those of the commands behind it, which will wait for it.
     *
     * @param first     of the command's keys
     * @param elsewhere a key in another database that the command asked for as well, or null
     */
    public Suspension fetch(Batch batch, int first, @org.jspecify.annotations.Nullable Key elsewhere) {
        Suspension wait = Suspension.silent();
        Fetching fetching = new Fetching(wait::again, memory);
        Fetch fetch = fetching.fetch();
        if (elsewhere != null) {
            add(fetching, Batch.KEY_ELSEWHERE, elsewhere, batch);
        }
        for (int i = first; i < batch.keyTotal() && fetch.size() < MOST_KEYS
                && fetching.keyBytes() < MOST_KEY_BYTES && (fetch.size() == 0 || fetching.hasRoom()); i++) {
            add(fetching, i, batch.key(i), batch);
        }
        batch.fetching(fetching);
        if (fetch.size() == 0) {
            // It came back while the lock was free.
            fetching.release();
            wait.again();
        } else {
            tier.fetch(fetch);
        }
        return wait;
    }

    private void add(Fetching fetching, int index, Key key, Batch batch) {
        long epoch = session.epoch(key.database());
        int falls = tier.falls(key.hash());
        if (mightHold(epoch, key) && !batch.isKnownAbsent(index, epoch, falls)) {
            fetching.add(index, key, epoch, falls, Memory.toArray(key.address(), key.length()));
        }
    }

    /**
     * Notes with the batch what became of the keys that were fetched last.
     *
     * @param first of the command's keys
     * @return whether memory had room for those of the command
     */
    public boolean settle(Batch batch, int first, int count) {
        Fetching fetching = batch.takeFetching();
        if (fetching == null) {
            return true;
        }
        return fetching.settle(batch, first, count);
    }
}
