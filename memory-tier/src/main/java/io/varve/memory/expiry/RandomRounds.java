package io.varve.memory.expiry;

import java.util.SplittableRandom;

import io.varve.memory.item.Ticker;

/**
 * Redis's expiry by sampling: Algorithm 2 of the paper, over all entries of a store. Guarded by the shard's lock.
 *
 * <p>A round samples {@value #SAMPLES} entries and lets the expired go. Another follows while more than a quarter of a
 * round had expired, which keeps the share of expired items that linger at about a quarter.
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

    /** Rounds until one finds few expired, or the slice is over; the clock is read every 10 rounds. */
    CycleStatus run(long nowMillis) {
        for (int rounds = 1; !done; rounds++) {
            done = !round(nowMillis);
            if (!done && (overTime || rounds % ROUNDS_PER_READING == 0 && expiry.slice.isOver())) {
                return CycleStatus.MORE;
            }
        }
        return CycleStatus.DONE;
    }

    /** Whether more than a quarter of the sampled had expired. */
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
                expired += pass(entry, location, expireAtMillis, nowMillis) ? 1 : 0;
            }
        }
        return overTime || expired * 4 > samples;
    }

    /** An item is past its time: it goes, or what of it is past. @return false if nothing can go now */
    private boolean pass(int entry, long location, long expireAtMillis, long nowMillis) {
        long left = expiry.owner.pastItsTime(location, nowMillis);
        if (left == ExpiryOwner.GOES) {
            expiry.remove(entry, expireAtMillis);
            expiry.owner.expire(location);
            return true;
        }
        // What went may have been much.
        overTime = expiry.slice.isOver();
        if (left == ExpiryOwner.NEVER) {
            expiry.remove(entry, expireAtMillis);
        } else if (left != ExpiryOwner.STAYS) {
            expiry.resend(entry, expireAtMillis, left, nowMillis);
        }
        return left != ExpiryOwner.STAYS;
    }
}
