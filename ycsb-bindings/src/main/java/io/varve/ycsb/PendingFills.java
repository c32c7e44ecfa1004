package io.varve.ycsb;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

import io.lettuce.core.RedisException;
import org.jspecify.annotations.Nullable;
import site.ycsb.DB;

/**
 * Keeps a record that was read from its database before a write out of the cache after it. Guarded by one lock for each
 * stripe of keys; shared by all clients of a process, and by the threads on which their caches' answers come.
 *
 * <pre>
 *   reader:  GET (nil)  begin  SELECT ................ [ overtaken? SET ] ... (OK)
 *   writer:                      UPDATE  [ overtake ]  until answered          DEL
 * </pre>
 *
 * <p>What stands in brackets is done under the key's lock. A reader that begins before a writer is through and comes to its
 * SET after it sees that it was overtaken, and does not SET. One that is there before has sent its SET before the writer
 * gets the lock: the writer waits for the answer, so its DEL takes the record away (it needs not wait for a SET of its own, which goes ahead
 * on the same connection). One that begins after a writer has overtaken reads what was written.
 *
 * <p>Only keys that are being filled are kept: at most two for each client, whose connection has its SET answered before its next GET.
 */
final class PendingFills {

    private static final int STRIPES = 1024;

    private final Stripe[] stripes = new Stripe[STRIPES];
    private final long timeoutMillis;

    PendingFills() {
        this(Connection.TIMEOUT_MILLIS);
    }

    /** @param timeoutMillis how long a writer waits for answers at the most */
    PendingFills(long timeoutMillis) {
        this.timeoutMillis = timeoutMillis;
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
        /** Fills that were begun and not closed, and SETs that were not answered. */
        private int fills;
        private long writes;
        private final List<Sent> sent = new ArrayList<>(1);
    }

    /** A SET on its way. Immutable. */
    private record Sent(DB by, CompletableFuture<?> answer) {}

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
         * @param by  the client, on whose connection it is sent
         * @param set sends it; what it throws leaves nothing behind
         * @return the cache's answer; null if nothing was sent
         */
        <T> @Nullable CompletableFuture<T> unlessOvertaken(DB by, Supplier<CompletableFuture<T>> set) {
            CompletableFuture<T> answer;
            synchronized (stripe(key)) {
                if (pending.writes != writesBefore) {
                    return null;
                }
                answer = set.get();
                pending.sent.add(new Sent(by, answer));
                pending.fills++;
            }
            return answer.whenComplete((value, failure) -> letGo(key, pending));
        }

        @Override
        public void close() {
            letGo(key, pending);
        }
    }

    /** A fill is closed, or its SET is answered. */
    private void letGo(String key, Pending pending) {
        Stripe stripe = stripe(key);
        synchronized (stripe) {
            pending.fills--;
            pending.sent.removeIf(each -> each.answer.isDone());
            if (pending.fills == 0) {
                stripe.keys.remove(key);
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

    /**
     * The database has been written, or may have been; the cache is asked to delete the key after this.
     *
     * @param by    the client, on whose connection that is asked for
     * @param cache that client's, at which it waits
     * @throws RedisException if another client's SET of the key is not answered in time: it may come after that
     */
    void overtake(String key, DB by, RecordCache cache) {
        Stripe stripe = stripe(key);
        CompletableFuture<?>[] others;
        synchronized (stripe) {
            Pending pending = stripe.keys.get(key);
            if (pending == null) {
                return;
            }
            pending.writes++;
            others = pending.sent.stream().filter(each -> !each.by.equals(by)).map(Sent::answer)
                    .toArray(CompletableFuture<?>[]::new);
        }
        cache.await(CompletableFuture.allOf(others), timeoutMillis);
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
