package io.varve.ycsb;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.Vector;

import io.lettuce.core.Limit;
import io.lettuce.core.Range;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.varve.ycsb.connection.Connection;
import io.varve.ycsb.connection.Failures;
import io.varve.ycsb.connection.RefusedException;
import io.varve.ycsb.near.NearCacheRun;
import io.varve.ycsb.near.NearReads;
import io.varve.ycsb.option.TtlChooser;
import io.varve.ycsb.option.VarveOptions;
import io.varve.ycsb.record.HashRecords;
import io.varve.ycsb.record.RecordCoding;
import io.varve.ycsb.record.StringRecords;
import org.jspecify.annotations.Nullable;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * A YCSB binding for servers that speak the Redis protocol; {@link VarveOptions} has its properties. Confined to one
 * YCSB thread, as YCSB creates one for each.
 *
 * <p>Every insert and every update, and so every read-modify-write, gives the record a TTL from a list, in the same
 * pipeline as the write (bucket-expiry paper, section 4.2). A record that is absent or expired is {@code NOT_FOUND}. A
 * failure is {@code ERROR}, and the first one of a thread is reported on standard error, because YCSB's status output
 * only counts failures. As in YCSB's own Redis binding, the table is ignored.
 */
public final class VarveClient extends DB {

    private static final ThreadNumbers THREAD_NUMBERS = new ThreadNumbers();
    private static final NearCacheRun RUN = new NearCacheRun();
    /** The stock binding's name for the sorted set of all keys; it carries no TTL. */
    private static final byte[] INDEX_KEY = "_indices".getBytes(StandardCharsets.UTF_8);

    // Taken here and not in init: YCSB constructs its clients one after another, and starts them all at once.
    private final int threadNumber = THREAD_NUMBERS.take();
    private final Failures failures = new Failures(threadNumber);
    private boolean joined;
    private @Nullable Session session;

    /** The state of a client between {@link #init()} and {@link #cleanup()}. Immutable. */
    private record Session(Connection connection, VarveOptions options, RecordCoding records,
            @Nullable TtlChooser ttls, @Nullable NearReads near) {

        long nextTtlMillis() {
            return ttls == null ? RecordCoding.NO_TTL : ttls.nextMillis();
        }

        boolean indexed() {
            return options.index() == VarveOptions.Index.ZSET;
        }

        /** The client is about to change a record, or to read it past the near cache. */
        void forget(byte[] keyBytes) {
            if (near != null) {
                near.remove(keyBytes);
            }
        }
    }

    /** One of YCSB's operations. */
    @FunctionalInterface
    private interface Operation {
        Status run(Session open, RedisClusterAsyncCommands<byte[], byte[]> redis, byte[] key);
    }

    /** Called by YCSB for all clients before the first is started. */
    public VarveClient() {
        RUN.join();
        joined = true;
    }

    /**
     * Reads the properties and connects.
     *
     * @throws DBException that names the property, its value and the allowed values, or the server that does not reply
     */
    @Override
    public void init() throws DBException {
        try {
            session = open(VarveOptions.parse(getProperties()));
        } catch (IllegalArgumentException e) {
            leave();
            throw new RefusedException(String.valueOf(e.getMessage()), e);
        } catch (RefusedException e) {
            // YCSB does not clean up after a client that did not start.
            leave();
            throw e;
        }
    }

    private Session open(VarveOptions options) throws RefusedException {
        Connection connection = Connection.open(options);
        RecordCoding records = switch (options.record()) {
            case HASH -> new HashRecords();
            case STRING -> new StringRecords(options.ttlMode(), options.fieldCount());
        };
        TtlChooser ttls = options.ttlsMillis().isEmpty()
                ? null
                : new TtlChooser(options.ttlsMillis(), options.ttlDistribution(), options.seed(), threadNumber);
        try {
            NearReads near = options.nearCacheRecords() == 0
                    ? null
                    : NearReads.open(options, connection, records, RUN);
            return new Session(connection, options, records, ttls, near);
        } catch (RefusedException refused) {
            try {
                connection.close();
            } catch (RedisException e) {
                refused.addSuppressed(e);
            }
            throw refused;
        }
    }

    private void leave() {
        if (joined) {
            joined = false;
            THREAD_NUMBERS.release(threadNumber);
            RUN.leave(System.out);
        }
    }

    @Override
    public void cleanup() throws DBException {
        Session open = session;
        session = null;
        failures.end();
        try {
            if (open != null) {
                open.connection().close();
            }
        } catch (RedisException e) {
            throw new DBException("the connection did not close: " + Failures.reason(e), e);
        } finally {
            leave();
        }
    }

    @Override
    public Status read(String table, String key, @Nullable Set<String> fields, Map<String, ByteIterator> result) {
        return run("read", key, (open, redis, keyBytes) -> {
            NearReads near = open.near();
            if (near != null) {
                return near.read(keyBytes, fields, result) ? Status.OK : Status.NOT_FOUND;
            }
            RecordCoding.PendingRead read = open.records().read(open.connection(), keyBytes, fields);
            open.connection().flush();
            return read.into(result) ? Status.OK : Status.NOT_FOUND;
        });
    }

    @Override
    public Status insert(String table, String key, Map<String, ByteIterator> values) {
        return run("insert", key, (open, redis, keyBytes) -> {
            if (open.indexed()) {
                enterInIndex(open, redis.zadd(INDEX_KEY, score(key), keyBytes));
            }
            return flushed(open, queueWrite(open, redis, keyBytes, RecordCoding.bytes(values)));
        });
    }

    /**
     * Waits for the index's entry before the record is written. If the index refused after the write, the record would
     * exist although its insert failed; an entry without a record is only omitted from scans.
     */
    private static void enterInIndex(Session open, RedisFuture<Long> entered) {
        open.connection().flush();
        try {
            open.connection().reply(entered);
        } catch (RedisException refused) {
            throw new RedisException(
                    VarveOptions.INDEX + "=zset: the server refuses the ZADD of the index, so the record is"
                            + " not written: " + Failures.reason(refused));
        }
    }

    /** {@inheritDoc} An update of an expired record recreates it. */
    @Override
    public Status update(String table, String key, Map<String, ByteIterator> values) {
        return run("update", key, (open, redis, keyBytes) -> {
            Map<String, byte[]> fields = RecordCoding.bytes(values);
            if (open.records().rewritesWhole(fields.size())) {
                fields = merged(open, keyBytes, fields);
            }
            return flushed(open, queueWrite(open, redis, keyBytes, fields));
        });
    }

    @Override
    public Status delete(String table, String key) {
        return run("delete", key, (open, redis, keyBytes) -> {
            open.forget(keyBytes);
            RedisFuture<Long> deleted = redis.del(keyBytes);
            List<RedisFuture<?>> replies = new ArrayList<>();
            if (open.indexed()) {
                replies.add(redis.zrem(INDEX_KEY, keyBytes));
            }
            flushed(open, replies);
            Long count = open.connection().reply(deleted);
            return count != null && count > 0 ? Status.OK : Status.NOT_FOUND;
        });
    }

    /**
     * {@inheritDoc} The order is the stock binding's: that of the keys' hashes. Expired records of the range are
     * omitted from the result, so it may have fewer than requested. The near cache does not serve scans, and
     * drops their records: a later read is not older than the scan.
     */
    @Override
    @SuppressWarnings("NonApiType") // The types are YCSB's.
    public Status scan(String table, String startKey, int recordCount, @Nullable Set<String> fields,
            Vector<HashMap<String, ByteIterator>> result) {
        return run("scan", startKey, (open, redis, keyBytes) -> {
            if (!open.indexed()) {
                failures.report("scan", VarveOptions.INDEX + "=none: scans need " + VarveOptions.INDEX
                        + "=zset, also in the load phase");
                return Status.NOT_IMPLEMENTED;
            }
            RedisFuture<List<byte[]>> range = redis.zrangebyscore(INDEX_KEY,
                    Range.from(Range.Boundary.including(score(startKey)), Range.Boundary.unbounded()),
                    Limit.create(0, recordCount));
            open.connection().flush();
            List<byte[]> keys = open.connection().reply(range);
            List<RecordCoding.PendingRead> reads = new ArrayList<>();
            if (keys != null) {
                for (byte[] each : keys) {
                    open.forget(each);
                    reads.add(open.records().read(open.connection(), each, fields));
                }
            }
            open.connection().flush();
            for (RecordCoding.PendingRead read : reads) {
                HashMap<String, ByteIterator> record = new HashMap<>();
                if (read.into(record)) {
                    result.add(record);
                }
            }
            return Status.OK;
        });
    }

    /** The only place where an operation fails. */
    private Status run(String name, String key, Operation operation) {
        Session open = session;
        if (open == null) {
            throw new IllegalStateException(name + " before init or after cleanup");
        }
        byte[] keyBytes;
        try {
            keyBytes = open.options().key().encode(key);
        } catch (IllegalArgumentException e) {
            failures.report(name, e.getMessage());
            return Status.BAD_REQUEST;
        }
        try {
            open.connection().run();
            return operation.run(open, open.connection().queue(), keyBytes);
        } catch (RedisException e) {
            failures.report(name, Failures.reason(e));
            return Status.ERROR;
        } catch (IllegalArgumentException e) {
            // The value is not one of our records.
            failures.report(name, e.getMessage());
            return Status.UNEXPECTED_STATE;
        }
    }

    private static List<RedisFuture<?>> queueWrite(Session open, RedisClusterAsyncCommands<byte[], byte[]> redis,
            byte[] keyBytes, Map<String, byte[]> fields) {
        open.forget(keyBytes);
        List<RedisFuture<?>> replies = new ArrayList<>(3);
        for (RedisFuture<?> reply : open.records().write(redis, keyBytes, fields, open.nextTtlMillis())) {
            replies.add(reply);
        }
        return replies;
    }

    private static Status flushed(Session open, List<RedisFuture<?>> replies) {
        open.connection().flush();
        for (RedisFuture<?> reply : replies) {
            open.connection().reply(reply);
        }
        return Status.OK;
    }

    /** The current record, with the fields of an update over it. */
    private static Map<String, byte[]> merged(Session open, byte[] keyBytes, Map<String, byte[]> fields) {
        Map<String, ByteIterator> old = new LinkedHashMap<>();
        RecordCoding.PendingRead read = open.records().read(open.connection(), keyBytes, null);
        open.connection().flush();
        read.into(old);
        Map<String, byte[]> merged = RecordCoding.bytes(old);
        merged.putAll(fields);
        return merged;
    }

    /** The stock binding's order. */
    private static double score(String key) {
        return key.hashCode();
    }
}
