package io.varve.ycsb;

import java.util.HashMap;
import java.util.Map;

/**
 * Keeps a record that was read from its database before a write out of the cache after it. Guarded by one lock for each
 * stripe of keys; shared by all clients of a process.
 *
 * <pre>
 *   reader:  GET (nil)  begin  SELECT ................ [ overtaken? SET ]
 *   writer:                      UPDATE  [ overtake ]  DEL
 * </pre>
 *
 * <p>What stands in brackets is done under the key's lock. A reader that begins before a writer is through and comes to its
 * SET after it sees that it was overtaken, and does not SET. One that is there before has its SET answered before the writer
 * gets the lock, so the writer's DEL takes it away. One that begins after a writer has overtaken reads what was written.
 *
 * <p>Only keys that are being filled are kept: at most one for each client.
 */
final class PendingFills {

    private static final int STRIPES = 1024;

    private final Stripe[] stripes = new Stripe[STRIPES];

    PendingFills() {
        for (int i = 0; i < STRIPES; i++) {
            stripes[i] = new Stripe();
        }
    }

    /** The keys of one lock. Guarded by itself. */
    private static final class Stripe {
        private final Map<String, Pending> keys = new HashMap<>(2);
    }

    /** A key that at least one reader fills. Guarded by its stripe. */
    private static final class Pending {
        private int fills;
        private long writes;
    }

    /** One reader's fill. Confined to its thread, which closes it. */
    final class Fill implements AutoCloseable {
        private final String key;
        private final Pending pending;
        private final long writesBefore;

        private Fill(String key, Pending pending) {
            this.key = key;
            this.pending = pending;
            this.writesBefore = pending.writes;
        }

        /**
         * Puts what was read into the cache, unless it may be older than a write.
         *
         * @param set returns when the cache has answered
         * @return whether it was done
         */
        boolean unlessOvertaken(Runnable set) {
            synchronized (stripe(key)) {
                if (pending.writes != writesBefore) {
                    return false;
                }
                set.run();
                return true;
            }
        }

        @Override
        public void close() {
            Stripe stripe = stripe(key);
            synchronized (stripe) {
                pending.fills--;
                if (pending.fills == 0) {
                    stripe.keys.remove(key);
                }
            }
        }
    }

    /** A reader has missed, and has not yet asked the database. */
    Fill begin(String key) {
        Stripe stripe = stripe(key);
        synchronized (stripe) {
            Pending pending = stripe.keys.computeIfAbsent(key, absent -> new Pending());
            pending.fills++;
            return new Fill(key, pending);
        }
    }

    /** The database has been written, or may have been; the cache is asked to delete the key after this. */
    void overtake(String key) {
        Stripe stripe = stripe(key);
        synchronized (stripe) {
            Pending pending = stripe.keys.get(key);
            if (pending != null) {
                pending.writes++;
            }
        }
    }

    /** How many keys are being filled. */
    int size() {
        int size = 0;
        for (Stripe stripe : stripes) {
            synchronized (stripe) {
                size += stripe.keys.size();
            }
        }
        return size;
    }

    private Stripe stripe(String key) {
        return stripes[Math.floorMod(key.hashCode(), STRIPES)];
    }
}
