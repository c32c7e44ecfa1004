package io.varve.ycsb;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

import io.lettuce.core.RedisFuture;
import io.lettuce.core.api.async.RedisAsyncCommands;
import org.jspecify.annotations.Nullable;
import site.ycsb.ByteIterator;

/**
 * How records are stored: which commands write and read one. Confined to the YCSB thread whose client owns it. Commands
 * are queued only: the client flushes them together and then waits for the replies.
 */
interface RecordCoding {

    /** The TTL of a record that gets none. */
    long NO_TTL = -1;

    /**
     * Queues what writes a record's fields and gives it a TTL; what else it has stays.
     *
     * @param redis where to queue
     * @param key the record's key, encoded
     * @param fields what to write
     * @param ttlMillis its TTL, or {@link #NO_TTL}
     * @return the replies to wait for, in order
     */
    RedisFuture<?>[] write(RedisAsyncCommands<byte[], byte[]> redis, byte[] key, Map<String, byte[]> fields,
            long ttlMillis);

    /**
     * Queues what reads a record.
     *
     * @param connection where to queue, and to wait for the reply
     * @param key the record's key, encoded
     * @param fields which fields, or null for all
     * @return the read, to be taken after the flush
     */
    PendingRead read(Connection connection, byte[] key, @Nullable Set<String> fields);

    /**
     * Whether writing these fields needs the record's other fields first.
     *
     * @param fieldsWritten how many fields an update writes
     * @return true if the client has to read the record and write it whole
     */
    boolean rewritesWhole(int fieldsWritten);

    /** The bytes of a record's fields, as YCSB hands them over; its iterators are used up. In YCSB's order. */
    static Map<String, byte[]> bytes(Map<String, ByteIterator> values) {
        Map<String, byte[]> fields = new LinkedHashMap<>();
        values.forEach((name, value) -> fields.put(name, value.toArray()));
        return fields;
    }

    /** A read under way. Confined to the thread that queued it. */
    @FunctionalInterface
    interface PendingRead {
        /**
         * Waits for the reply.
         *
         * @param result gets the fields that there are
         * @return false if there is no such record
         */
        boolean into(Map<String, ByteIterator> result);
    }
}
