package io.varve.experiments.run.expiry;

/**
 * The loader's own record of the items' expiry times. Guarded by its caller's lock.
 *
 * <p>A count per millisecond answers how many items are alive, and how many expired within a window, without a walk
 * over the items.
 */
public final class ExpiryLedger {
    private final long originMillis;
    private final int[] expiringAt;
    private final long[] expiryOfKey;

    /**
     * @param keys number of keys
     * @param originMillis Unix time in ms before which nothing expires
     * @param spanMillis time after the origin when nothing more expires
     */
    public ExpiryLedger(int keys, long originMillis, int spanMillis) {
        this.originMillis = originMillis;
        this.expiringAt = new int[spanMillis];
        this.expiryOfKey = new long[keys];
    }

    /** Records a write of the item, new or overwritten. */
    public void put(int key, long expireAtMillis) {
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
            throw new IllegalArgumentException("expiry " + slot + " ms after the origin: expected 0 to "
                    + (expiringAt.length - 1));
        }
        return (int) slot;
    }

    /** Number of items that expire after that moment. As in Redis, an item is expired once its time is reached. */
    public long aliveAt(long nowMillis) {
        return between(nowMillis + 1, originMillis + expiringAt.length);
    }

    /** Number of items that expired in the window of this length that ends at that moment. */
    public long expiredWithin(long nowMillis, long windowMillis) {
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

    /** The expiry time of the last item, in Unix ms; the origin if there is none. */
    public long lastExpiryMillis() {
        for (int slot = expiringAt.length - 1; slot >= 0; slot--) {
            if (expiringAt[slot] > 0) {
                return originMillis + slot;
            }
        }
        return originMillis;
    }
}
