package io.varve.server.command.persistence;

import java.util.concurrent.CountDownLatch;

import io.varve.flash.tier.Fetch;
import io.varve.flash.tier.FlashTier;
import io.varve.memory.CacheSession;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import org.jspecify.annotations.Nullable;

/** Fetches keys from flash for a thread that may wait for it, one at a time. Confined to that thread. */
final class KeysOnFlash {
    private final @Nullable FlashTier flash;
    private final CacheSession session;
    /** The last key that was not found, and the tier's counter of that time. */
    private long absentHash;
    private long absentEpoch;
    private int absentDemotions;
    private boolean hasAbsent;

    /** @param flash the flash tier; null if there is none */
    KeysOnFlash(@Nullable FlashTier flash, CacheSession session) {
        this.flash = flash;
        this.session = session;
    }

    /** Whether a key that is not in memory may be on flash. Its shard is locked. */
    boolean mightHave(Key key) {
        if (flash == null || key.length() > FlashTier.MAX_KEY_BYTES) {
            return false;
        }
        long epoch = session.epoch(key.database());
        return flash.mightContain(epoch, key.hash())
                && !(hasAbsent && absentHash == key.hash() && absentEpoch == epoch
                        && absentDemotions == flash.demotions(key.hash()));
    }

    /** Fetches a key that {@link #mightHave}; its shard is not locked. Afterwards it is in memory, or absent. */
    void fetch(Key key) {
        FlashTier tier = java.util.Objects.requireNonNull(flash);
        long epoch = session.epoch(key.database());
        int demotions = tier.demotions(key.hash());
        CountDownLatch known = new CountDownLatch(1);
        Fetch fetch = new Fetch(known::countDown);
        fetch.add(key.database(), epoch, key.hash(), Memory.toArray(key.address(), key.length()));
        tier.fetch(fetch);
        boolean interrupted = false;
        while (known.getCount() > 0) {
            try {
                known.await();
            } catch (InterruptedException again) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        if (fetch.outcome(0) == Fetch.Outcome.NO_SPACE) {
            throw CacheFullException.INSTANCE;
        }
        hasAbsent = fetch.outcome(0) == Fetch.Outcome.ABSENT;
        absentHash = key.hash();
        absentEpoch = epoch;
        absentDemotions = demotions;
    }
}
