package io.varve.experiments.run;

/**
 * The loader's own record of when each item expires. Guarded by its caller's lock.
 *
 * <p>A count per millisecond answers how many are alive, and how many expired within a window, without a walk over the
 * items.
 */
final class ExpiryLedger {
    private final long originMillis;
    private final int[] expiringAt;
    private final long[] expiryOfKey;

    /**
     * @param keys         how many
     * @param originMillis Unix time in ms before which nothing expires
     * @param spanMillis   after which nothing expires
     */
    ExpiryLedger(int keys, long originMillis, int spanMillis) {
        this.originMillis = originMillis;
        this.expiringAt = new int[spanMillis];
        this.expiryOfKey = new long[keys];
    }

    /** The item is written, anew or over itself. */
    void put(int key, long expireAtMillis) {
        long old = expiryOfKey[key];
        if (old != 0) {
            expiringAt[slot(old)]--;
        }
        expiringAt[slot(expireAtMillis)]++;
        expiryOfKey[key] = expireAtMillis;
    }

    private int slot(long millis) {
        long slot = millis - originMillis;
        if (slot < 0 || slot >= expiringAt.length) {
            throw new IllegalArgumentException("expiry " + slot + " ms after the origin: allowed are 0 to "
                    + (expiringAt.length - 1));
        }
        return (int) slot;
    }

    /** Items whose expiry lies after that moment. As in Redis, an item is expired once its time is reached. */
    long aliveAt(long nowMillis) {
        return between(nowMillis + 1, originMillis + expiringAt.length);
    }

    /** Items that expired in the window that ends at that moment, so many milliseconds long. */
    long expiredWithin(long nowMillis, long windowMillis) {
        return between(nowMillis - windowMillis + 1, nowMillis + 1);
    }

    private long between(long fromMillis, long toMillis) {
        int from = Math.clamp(fromMillis - originMillis, 0, expiringAt.length);
        int to = Math.clamp(toMillis - originMillis, 0, expiringAt.length);
        long count = 0;
        for (int slot = from; slot < to; slot++) {
            count += expiringAt[slot];
        }
        return count;
    }

    /** When the last item expires, in Unix ms; the origin if there is none. */
    long lastExpiryMillis() {
        for (int slot = expiringAt.length - 1; slot >= 0; slot--) {
            if (expiringAt[slot] > 0) {
                return originMillis + slot;
            }
        }
        return originMillis;
    }
}
