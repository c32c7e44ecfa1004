package io.varve.flash.tier;

import io.varve.flash.record.ItemKey;
import io.varve.flash.record.ItemRecord;
import io.varve.flash.store.DurabilityLevel;
import io.varve.flash.store.FlashStore;
import io.varve.flash.store.StoreException;
import org.jspecify.annotations.Nullable;

/**
 * Writes demoted items to the store at once, while data is loaded: no item may be lost then, and the thread that loads
 * has to wait for the store in any case. Many threads, each under the lock of its item's shard; {@link #begin} and
 * {@link #end} by one.
 *
 * <p>An item that is demoted is not in the store, and not in a queue. So no worker touches its record until the shard
 * is unlocked.
 */
final class TierLoad {
    private final FlashStore store;
    private final Evictor evictor;
    private final Counts counts;
    private long reopened;
    private long lostBefore;
    private volatile boolean open;
    private volatile @Nullable StoreException failure;

    TierLoad(FlashStore store, Evictor evictor, Counts counts) {
        this.store = store;
        this.evictor = evictor;
        this.counts = counts;
    }

    void begin() {
        failure = null;
        lostBefore = counts.lost();
        reopened = store.reopened();
        open = true;
    }

    /** Whether data is being loaded. */
    boolean isOpen() {
        return open;
    }

    /** Whether another item can be stored. */
    boolean hasSpace(ResidencyFilter residency) {
        return failure == null && residency.count() < evictor.maxItems();
    }

    /** Stores an item that is registered. @return false if it was not stored */
    boolean write(byte[] recordKey, byte[] record) {
        ItemRecord.seal(recordKey, record);
        try {
            boolean isNew = store.put(recordKey, record, DurabilityLevel.BUFFERED);
            assert isNew : "a demoted item was in the store";
        } catch (StoreException failed) {
            // It may be in the store now: end() reports that the data is not loaded.
            failure = failed;
            return false;
        }
        evictor.inserted(ItemKey.placeOf(recordKey));
        evictor.written(recordKey.length + record.length);
        counts.written.increment();
        return true;
    }

    /**
     * Ends the load.
     *
     * @throws StoreException if an item may have been lost
     */
    void end() {
        open = false;
        StoreException failed = failure;
        if (failed != null) {
            throw failed;
        }
        store.makeDurable(DurabilityLevel.TO_SYSTEM);
        if (store.reopened() != reopened) {
            throw new StoreException(StoreException.Kind.FAILED, "The store was reopened while data was loaded", null);
        }
        if (counts.lost() != lostBefore) {
            throw new StoreException(StoreException.Kind.FAILED, "Flash lost items while data was loaded", null);
        }
    }
}
