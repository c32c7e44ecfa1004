package io.varve.ycsb.near;

import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Expiry;
import com.github.benmanes.caffeine.cache.Ticker;
import io.varve.ycsb.connection.InvalidationListener;
import io.varve.ycsb.record.RecordCoding;
import org.jspecify.annotations.Nullable;

/**
 * The records that one client keeps in its own memory. Guarded by {@code this}: the client's thread finds and loads
 * records, and its connection's event loop invalidates them.
 *
 * <p>A load begins before its request is sent. An invalidation that arrives before its reply is taken may concern the
 * value in that reply, so it overtakes the load: the record is not kept. A lost connection, after which no invalidation
 * arrives, removes all records and overtakes the load.
 *
 * <p>A record's life ends with its TTL, counted from the moment before the request. The server may expire it later, and
 * invalidates it only then.
 */
final class NearCache implements InvalidationListener {

    /**
     * Maximum time since the last reply for which records are served. A server that was cut off without the end of its
     * connection cannot invalidate; a request finds out.
     */
    static final long MAX_SILENCE_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** Keeps sums of a clock's value and a life in range. */
    private static final long MAX_LIFE_NANOS = Long.MAX_VALUE >> 2;

    private final Ticker clock;
    private final NearCacheRun run;
    private final Cache<ByteBuffer, Entry> entries;
    private @Nullable Load loading;
    private boolean tracked;
    private long lastReplyNanos;

    /** A record from the server. Guarded by the cache. */
    static final class Load {
        private final ByteBuffer key;
        private final long startNanos;
        private boolean overtaken;

        private Load(ByteBuffer key, long startNanos) {
            this.key = key;
            this.startNanos = startNanos;
        }
    }

    /** A kept record. Immutable. */
    private record Entry(Map<String, byte[]> fields, long startNanos, long lifeNanos) {

        long restNanos(long nowNanos) {
            return Math.max(0, startNanos + lifeNanos - nowNanos);
        }
    }

    /** The rest of a record's life; a read does not extend it. Immutable. */
    private static final class RecordExpiry implements Expiry<ByteBuffer, Entry> {

        @Override
        public long expireAfterCreate(ByteBuffer key, Entry entry, long nowNanos) {
            return entry.restNanos(nowNanos);
        }

        @Override
        public long expireAfterUpdate(ByteBuffer key, Entry entry, long nowNanos, long restNanos) {
            return entry.restNanos(nowNanos);
        }

        @Override
        public long expireAfterRead(ByteBuffer key, Entry entry, long nowNanos, long restNanos) {
            return restNanos;
        }
    }

    /** @param records maximum number of records, at least 1 */
    NearCache(long records, Ticker clock, NearCacheRun run) {
        this.clock = clock;
        this.run = run;
        // Maintenance on the client's thread: it is short, and a pool would take the load generator's core.
        entries = Caffeine.newBuilder().maximumSize(records).expireAfter(new RecordExpiry()).ticker(clock)
                .executor(Runnable::run).build();
        lastReplyNanos = clock.read();
    }

    /** The record of a key; null if the server has to be asked. */
    synchronized @Nullable Map<String, byte[]> find(byte[] key) {
        if (clock.read() - lastReplyNanos > MAX_SILENCE_NANOS) {
            return null;
        }
        Entry entry = entries.getIfPresent(ByteBuffer.wrap(key));
        return entry == null ? null : entry.fields;
    }

    /** Begins a load, before its request is sent. It replaces one that failed. */
    synchronized Load begin(byte[] key) {
        Load begun = new Load(ByteBuffer.wrap(key), clock.read());
        loading = begun;
        return begun;
    }

    /** Whether the server reports changes on the connection. */
    synchronized boolean isTracked() {
        return tracked;
    }

    /** The server has confirmed CLIENT TRACKING, which was sent after a load had begun. */
    synchronized void confirmTracking(Load load) {
        tracked |= !load.overtaken;
    }

    /**
     * Ends a load with the server's reply, and keeps the record unless an invalidation has overtaken it.
     *
     * @param fields all fields of the record; null if there is none
     * @param ttlMillis the rest of its TTL, or {@link RecordCoding#NO_TTL}
     */
    synchronized void finish(Load load, @Nullable Map<String, byte[]> fields, long ttlMillis) {
        loading = null;
        lastReplyNanos = clock.read();
        if (load.overtaken || !tracked) {
            run.overtaken();
        } else if (fields == null || ttlMillis != RecordCoding.NO_TTL && ttlMillis <= 0) {
            entries.invalidate(load.key);
        } else {
            long lifeNanos = ttlMillis == RecordCoding.NO_TTL
                    ? MAX_LIFE_NANOS
                    : Math.min(TimeUnit.MILLISECONDS.toNanos(ttlMillis), MAX_LIFE_NANOS);
            entries.put(load.key, new Entry(fields, load.startNanos, lifeNanos));
        }
    }

    /** Removes a record before the client changes it: the server's report comes only after the change. */
    synchronized void remove(byte[] key) {
        entries.invalidate(ByteBuffer.wrap(key));
    }

    @Override
    public synchronized void invalidated(byte[] key) {
        ByteBuffer changed = ByteBuffer.wrap(key);
        run.invalidated();
        entries.invalidate(changed);
        Load load = loading;
        if (load != null && load.key.equals(changed)) {
            load.overtaken = true;
        }
    }

    @Override
    public synchronized void allInvalidated() {
        run.invalidated();
        clear();
    }

    @Override
    public synchronized void disconnected() {
        tracked = false;
        clear();
    }

    private void clear() {
        entries.invalidateAll();
        Load load = loading;
        if (load != null) {
            load.overtaken = true;
        }
    }
}
