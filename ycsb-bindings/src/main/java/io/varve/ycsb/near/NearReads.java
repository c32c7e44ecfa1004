package io.varve.ycsb.near;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;

import com.github.benmanes.caffeine.cache.Ticker;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.TrackingArgs;
import io.varve.ycsb.connection.Connection;
import io.varve.ycsb.connection.Failures;
import io.varve.ycsb.connection.RefusedException;
import io.varve.ycsb.option.VarveOptions;
import io.varve.ycsb.record.RecordCoding;
import org.jspecify.annotations.Nullable;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;

/**
 * Reads records through a client's {@link NearCache}. Confined to the YCSB thread whose client owns it.
 *
 * <p>A miss reads the whole record and its TTL in one pipeline. After a connection was lost, CLIENT TRACKING precedes
 * them there.
 */
public final class NearReads {

    // Lettuce only reads it. Without NOLOOP: with it, Redis reports no key that it evicts for this client's own write.
    private static final TrackingArgs TRACKING = TrackingArgs.Builder.enabled();
    private static final byte[] NO_KEY = {};

    private final Connection connection;
    private final RecordCoding records;
    private final NearCache cache;
    private final NearCacheRun run;

    private NearReads(Connection connection, RecordCoding records, NearCache cache, NearCacheRun run) {
        this.connection = connection;
        this.records = records;
        this.cache = cache;
        this.run = run;
    }

    /**
     * Begins tracking.
     *
     * @throws RefusedException that names the server, if it refuses
     */
    public static NearReads open(VarveOptions options, Connection connection, RecordCoding records, NearCacheRun run)
            throws RefusedException {
        NearCache cache = new NearCache(options.nearCacheRecords(), Ticker.systemTicker(), run);
        connection.addListener(cache);
        NearReads opened = new NearReads(connection, records, cache, run);
        try {
            NearCache.Load first = cache.begin(NO_KEY);
            RedisFuture<String> tracking = opened.track();
            connection.flush();
            connection.reply(tracking);
            cache.confirmTracking(first);
        } catch (RedisException e) {
            throw new RefusedException(VarveOptions.NEAR_CACHE + "=" + options.nearCacheRecords() + ": the server at "
                    + options.host() + ":" + options.port() + " refuses CLIENT TRACKING over RESP3: expected 0 for it ("
                    + Failures.reason(e) + ")", e);
        }
        run.use();
        return opened;
    }

    private RedisFuture<String> track() {
        return connection.queue().clientTracking(TRACKING);
    }

    /**
     * Reads a record.
     *
     * @param fields which fields, or null for all
     * @param result receives the existing fields
     * @return false if there is no such record
     * @throws RedisException if the server refuses or does not reply
     */
    public boolean read(byte[] key, @Nullable Set<String> fields, Map<String, ByteIterator> result) {
        Map<String, byte[]> record = cache.find(key);
        if (record == null) {
            run.missed();
            record = load(key);
        } else {
            run.hit();
        }
        boolean found = false;
        for (Map.Entry<String, byte[]> field : record.entrySet()) {
            if (fields == null || fields.contains(field.getKey())) {
                found = true;
                result.put(field.getKey(), new ByteArrayByteIterator(field.getValue()));
            }
        }
        return found;
    }

    /** @return all fields; none if there is no such record */
    private Map<String, byte[]> load(byte[] key) {
        NearCache.Load load = cache.begin(key);
        RedisFuture<String> tracking = cache.isTracked() ? null : track();
        RecordCoding.PendingRead read = records.read(connection, key, null);
        RedisFuture<Long> ttl = connection.queue().pttl(key);
        connection.flush();
        if (tracking != null) {
            connection.reply(tracking);
            cache.confirmTracking(load);
        }
        Map<String, ByteIterator> all = new HashMap<>();
        boolean exists = read.into(all);
        Long ttlMillis = connection.reply(ttl);
        Map<String, byte[]> fields = RecordCoding.bytes(all);
        cache.finish(load, exists ? fields : null, ttlMillis == null ? 0 : ttlMillis);
        return fields;
    }

    /** The client is about to change this record, or to read it from the server. */
    public void remove(byte[] key) {
        cache.remove(key);
    }
}
