package io.varve.ycsb.record;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.lettuce.core.KeyValue;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.varve.ycsb.connection.Connection;
import org.jspecify.annotations.Nullable;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;

/** Stores a record as a hash, as YCSB's own Redis binding does: HSET, HGETALL, HMGET. Immutable. */
public final class HashRecords implements RecordCoding {

    @Override
    @SuppressWarnings("ArrayAsKeyOfSetOrMap") // Lettuce only iterates over the map.
    public RedisFuture<?>[] write(RedisClusterAsyncCommands<byte[], byte[]> redis, byte[] key,
            Map<String, byte[]> fields,
            long ttlMillis) {
        Map<byte[], byte[]> hash = new LinkedHashMap<>();
        fields.forEach((name, value) -> hash.put(bytes(name), value));
        RedisFuture<Long> written = redis.hset(key, hash);
        return ttlMillis == NO_TTL
                ? new RedisFuture<?>[] {written}
                : new RedisFuture<?>[] {written, Connection.expire(redis, key, ttlMillis)};
    }

    @Override
    public PendingRead read(Connection connection, byte[] key, @Nullable Set<String> fields) {
        if (fields == null) {
            RedisFuture<Map<byte[], byte[]>> all = connection.queue().hgetall(key);
            return result -> takeAll(connection.reply(all), result);
        }
        byte[][] names = fields.stream().map(HashRecords::bytes).toArray(byte[][]::new);
        RedisFuture<List<KeyValue<byte[], byte[]>>> some = connection.queue().hmget(key, names);
        return result -> takeSome(connection.reply(some), result);
    }

    @Override
    public boolean rewritesWhole(int fieldsWritten) {
        return false;
    }

    private static boolean takeAll(@Nullable Map<byte[], byte[]> hash, Map<String, ByteIterator> result) {
        if (hash == null || hash.isEmpty()) {
            return false;
        }
        hash.forEach((name, value) -> result.put(text(name), new ByteArrayByteIterator(value)));
        return true;
    }

    private static boolean takeSome(@Nullable List<KeyValue<byte[], byte[]>> hash, Map<String, ByteIterator> result) {
        boolean found = false;
        if (hash != null) {
            for (KeyValue<byte[], byte[]> field : hash) {
                if (field.hasValue()) {
                    found = true;
                    result.put(text(field.getKey()), new ByteArrayByteIterator(field.getValue()));
                }
            }
        }
        return found;
    }

    private static byte[] bytes(String name) {
        return name.getBytes(StandardCharsets.UTF_8);
    }

    private static String text(byte[] name) {
        return new String(name, StandardCharsets.UTF_8);
    }
}
