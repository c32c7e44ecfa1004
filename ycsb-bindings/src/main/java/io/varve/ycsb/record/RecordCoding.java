package io.varve.ycsb.record;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

import io.lettuce.core.RedisFuture;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.varve.ycsb.connection.Connection;
import org.jspecify.annotations.Nullable;
import site.ycsb.ByteIterator;

/**
 * The storage format of records: the commands that write and read one. Confined to the YCSB thread whose client owns
 * it. It only queues commands: the client flushes them together and then waits for the replies.
 */
public interface RecordCoding {

    /** The TTL of a record without one. */
    long NO_TTL = -1;

    /**
     * Queues the commands that write a record's fields and set its TTL; other fields stay.
     *
     * @param redis the queue
     * @param key the record's key, encoded
     * @param fields the fields to write
     * @param ttlMillis its TTL, or {@link #NO_TTL}
     * @return the replies to wait for, in order
     */
    RedisFuture<?>[] write(RedisClusterAsyncCommands<byte[], byte[]> redis, byte[] key, Map<String, byte[]> fields,
            long ttlMillis);

    /**
     * Queues the commands that read a record.
     *
     * @param connection the queue, and the connection to wait on
     * @param key the record's key, encoded
     * @param fields which fields, or null for all
     * @return the read, to be taken after the flush
     */
    PendingRead read(Connection connection, byte[] key, @Nullable Set<String> fields);

    /**
     * Whether a write of these fields needs the record's other fields first.
     *
     * @param fieldsWritten number of fields that an update writes
     * @return true if the client must read the record and write it whole
     */
    boolean rewritesWhole(int fieldsWritten);

    /** The bytes of a record's fields, in YCSB's order; consumes YCSB's iterators. */
    static Map<String, byte[]> bytes(Map<String, ByteIterator> values) {
        Map<String, byte[]> fields = new LinkedHashMap<>();
        values.forEach((name, value) -> fields.put(name, value.toArray()));
        return fields;
    }

    /** A queued read. Confined to the thread that queued it. */
    @FunctionalInterface
    interface PendingRead {
        /**
         * Waits for the reply.
         *
         * @param result receives the existing fields
         * @return false if there is no such record
         */
        boolean into(Map<String, ByteIterator> result);
    }
}
