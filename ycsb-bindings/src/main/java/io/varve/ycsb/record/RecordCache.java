package io.varve.ycsb.record;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import io.lettuce.core.RedisException;
import site.ycsb.ByteIterator;

/**
 * One client's cache. Confined to the YCSB thread that opened it. Every method except {@link #write} returns after the
 * cache's reply.
 */
public interface RecordCache extends AutoCloseable {

    /**
     * Reads a record.
     *
     * @param result receives all its fields
     * @return false if it is absent
     * @throws RedisException if the cache refuses or does not reply
     * @throws IllegalArgumentException if its value is not a record
     */
    boolean read(byte[] key, Map<String, ByteIterator> result);

    /**
     * Writes a record: it is sent before the return, and its reply precedes that of this client's next request.
     *
     * @param penaltyClass the penalty class of the record, if hints are sent
     * @return the reply, which arrives on this thread while it waits for a reply, or on another one: the reason why the
     *     record lacks the hint; empty if it has it, or none is sent. A {@link RedisException} if the cache refuses
     * @throws RedisException if it could not be sent
     */
    CompletableFuture<Optional<String>> write(byte[] key, Map<String, byte[]> fields, int penaltyClass);

    /**
     * Deletes a record, if it exists.
     *
     * @throws RedisException if the cache refuses or does not reply
     */
    void remove(byte[] key);

    /** Processes input since the last request. For threads that were busy elsewhere meanwhile. */
    void run();

    /**
     * Waits for a reply, whatever it says, to this client or to another.
     *
     * @param millis maximum wait
     * @throws RedisException if there is none in time, or the thread is interrupted
     */
    void await(CompletableFuture<?> answer, long millis);

    /** @throws RedisException if the connection does not close */
    @Override
    void close();
}
