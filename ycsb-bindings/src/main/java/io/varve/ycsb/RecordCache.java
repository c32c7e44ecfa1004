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
     * @return the answer, on whatever thread it comes: why the record is there without the hint; nothing if it has it, or none is sent. A {@link RedisException}
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

    /** @throws RedisException if the connection does not close */
    @Override
    void close();
}
