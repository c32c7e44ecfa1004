package io.varve.memory.expiry;

import java.util.SplittableRandom;

import io.varve.memory.item.Ticker;

/**
 * Redis's expiry by sampling: Algorithm 2 of the paper, over all entries of a store. Guarded by the shard's lock.
 *
 * <p>A round samples {@value #SAMPLES} entries and removes the expired ones. Another round follows while more than a
 * quarter of the last one had expired. This keeps the share of expired items in the store at about a quarter.
 */
final class RandomRounds {
    static final int SAMPLES = 20;
    private static final int ROUNDS_PER_READING = 10;

    private final Expiry expiry;
    private final SplittableRandom random;
    private boolean done = true;
    /** Whether the slice's end was noticed within a round. */
    private boolean overTime;

    RandomRounds(Expiry expiry, Ticker ticker) {
        this.expiry = expiry;
        random = new SplittableRandom(ticker.nanoTime());
    }

    void beginCycle() {
        done = false;
    }

    /** Runs rounds until one finds few expired entries, or the slice is over; reads the clock every 10 rounds. */
    CycleStatus run(long nowMillis) {
        for (int rounds = 1; !done; rounds++) {
            done = !round(nowMillis);
            if (!done && (overTime || rounds % ROUNDS_PER_READING == 0 && expiry.slice.isOver())) {
                return CycleStatus.MORE;
            }
        }
        return CycleStatus.DONE;
    }

    /** Runs one round; true if more than a quarter of the sampled entries had expired. */
    private boolean round(long nowMillis) {
        EntryStore store = expiry.store;
        int samples = (int) Math.min(SAMPLES, store.size());
        int expired = 0;
        overTime = false;
        for (int i = 0; i < samples && store.size() > 0 && !overTime; i++) {
            int entry = store.sample(random.nextLong());
            long location = store.location(entry);
            long expireAtMillis = expiry.owner.expireAtMillis(location);
            if (expireAtMillis < nowMillis) {
                expired += expireEntry(entry, location, expireAtMillis, nowMillis) ? 1 : 0;
            }
        }
        return overTime || expired * 4 > samples;
    }

    /** Expires an item, or its due parts. @return false if nothing can be removed now */
    private boolean expireEntry(int entry, long location, long expireAtMillis, long nowMillis) {
        long left = expiry.owner.expireDue(location, nowMillis);
        if (left == ExpiryOwner.EXPIRED) {
            expiry.remove(entry, expireAtMillis);
            expiry.owner.expire(location);
            return true;
        }
        // The removal may have taken long.
        overTime = expiry.slice.isOver();
        if (left == ExpiryOwner.NEVER) {
            expiry.remove(entry, expireAtMillis);
        } else if (left != ExpiryOwner.UNCHANGED) {
            expiry.resend(entry, expireAtMillis, left, nowMillis);
        }
        return left != ExpiryOwner.UNCHANGED;
    }
}
