package io.varve.ycsb;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import io.lettuce.core.RedisException;
import site.ycsb.ByteIterator;

/** One client's cache. Confined to the YCSB thread that opened it. Every method but {@link #write} returns when the cache has answered. */
interface RecordCache extends AutoCloseable {

    /**
     * Looks a record up.
     *
     * @param result gets all its fields
     * @return false if it is not there
     * @throws RedisException           if the cache refuses or does not answer
     * @throws IllegalArgumentException if what is there is no record
     */
    boolean read(byte[] key, Map<String, ByteIterator> result);

    /**
     * Puts a record: it is sent when this returns, and answered before whatever this client asks for next.
     *
     * @param penaltyClass it is of, where hints are sent
     * @return the answer, which comes on this thread while it waits for an answer, or on another: why the record is there without the hint; nothing if it has it, or none is sent. A {@link RedisException}
     *         if the cache refuses
     * @throws RedisException if it could not be sent
     */
    CompletableFuture<Optional<String>> write(byte[] key, Map<String, byte[]> fields, int penaltyClass);

    /**
     * Deletes a record, if it is there.
     *
     * @throws RedisException if the cache refuses or does not answer
     */
    void remove(byte[] key);

    /** Has what came since the last question be seen. For whoever has done something else meanwhile. */
    void run();

    /**
     * Waits until an answer has come, to this client or to another, whatever it says.
     *
     * @param millis how long at the most
     * @throws RedisException if there is none in time, or the thread is interrupted
     */
    void await(CompletableFuture<?> answer, long millis);

    /** @throws RedisException if the connection does not close */
    @Override
    void close();
}
