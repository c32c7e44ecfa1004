package io.varve.ycsb.database;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

import io.lettuce.core.RedisException;
import io.varve.ycsb.connection.Connection;
import io.varve.ycsb.record.RecordCache;
import org.jspecify.annotations.Nullable;
import site.ycsb.DB;

/**
 * Prevents a record that was read from its database before a write from entering the cache after it. Guarded by one
 * lock for each stripe of keys; all clients of a process share it, as do the threads on which their caches' replies
 * arrive.
 *
 * <pre>
 *   reader:  GET (nil)  begin  SELECT ................ [ overtaken? SET ] ... (OK)
 *   writer:                      UPDATE  [ overtake ]  until answered          DEL
 * </pre>
 *
 * <p>The steps in brackets run under the key's lock. A reader that begins before a writer's {@code overtake} and
 * reaches its SET after it sees that it was overtaken, and does not SET. A reader that reaches it earlier has sent its
 * SET before the writer gets the lock. The writer waits for the reply to that SET, so its DEL removes the record. It
 * need not wait for a SET of its own, which precedes the DEL on the same connection. A reader that begins after the
 * writer's {@code overtake} reads the written value.
 *
 * <p>Only keys that are being filled are stored: at most two for each client, whose connection gets the reply to its
 * SET before its next GET.
 */
public final class PendingFills {

    private static final int STRIPES = 1024;

    private final Stripe[] stripes = new Stripe[STRIPES];
    private final long timeoutMillis;

    PendingFills() {
        this(Connection.TIMEOUT_MILLIS);
    }

    /** @param timeoutMillis maximum wait of a writer for replies */
    PendingFills(long timeoutMillis) {
        this.timeoutMillis = timeoutMillis;
        for (int i = 0; i < STRIPES; i++) {
            stripes[i] = new Stripe();
        }
    }

    /** The keys of one lock. Guarded by {@code this}. */
    private static final class Stripe {
        private final Map<String, Pending> keys = new HashMap<>(2);
    }

    /** A key that at least one reader fills. Guarded by its stripe. */
    private static final class Pending {
        /** Fills that were begun and not closed, and SETs without a reply. */
        private int fills;
        private long writes;
        private final List<Sent> sent = new ArrayList<>(1);
    }

    /** An outstanding SET. Immutable. */
    private record Sent(DB by, CompletableFuture<?> answer) {}

    /** One reader's fill. Confined to its thread, which closes it. */
    public final class Fill implements AutoCloseable {
        private final String key;
        private final Pending pending;
        private final long writesBefore;

        private Fill(String key, Pending pending) {
            this.key = key;
            this.pending = pending;
            this.writesBefore = pending.writes;
        }

        /**
         * Writes a fetched record to the cache, unless it may be older than a write.
         *
         * @param by the client whose connection sends it
         * @param set sends it; if it throws, it has no effect
         * @return the cache's reply; null if nothing was sent
         */
        public <T> @Nullable CompletableFuture<T> unlessOvertaken(DB by, Supplier<CompletableFuture<T>> set) {
            CompletableFuture<T> answer;
            synchronized (stripe(key)) {
                if (pending.writes != writesBefore) {
                    return null;
                }
                answer = set.get();
                pending.sent.add(new Sent(by, answer));
                pending.fills++;
            }
            return answer.whenComplete((value, failure) -> complete(key, pending));
        }

        @Override
        public void close() {
            complete(key, pending);
        }
    }

    /** Ends a fill, or an outstanding SET. */
    private void complete(String key, Pending pending) {
        Stripe stripe = stripe(key);
        synchronized (stripe) {
            pending.fills--;
            pending.sent.removeIf(each -> each.answer.isDone());
            if (pending.fills == 0) {
                stripe.keys.remove(key);
            }
        }
    }

    /** Begins a fill: a reader has missed, and has not yet queried the database. */
    public Fill begin(String key) {
        Stripe stripe = stripe(key);
        synchronized (stripe) {
            Pending pending = stripe.keys.computeIfAbsent(key, absent -> new Pending());
            pending.fills++;
            return new Fill(key, pending);
        }
    }

    /**
     * Called after the database has been written, or may have been, and before the cache deletes the key.
     *
     * @param by the client whose connection sends the deletion
     * @param cache that client's cache, which it waits on
     * @throws RedisException if another client's SET of the key has no reply in time: it may arrive after the deletion
     */
    public void overtake(String key, DB by, RecordCache cache) {
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

    /** Number of keys that are being filled. */
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
