package io.varve.ycsb.record;

import java.util.Map;
import java.util.Set;

import io.lettuce.core.RedisFuture;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.varve.ycsb.connection.Connection;
import io.varve.ycsb.option.VarveOptions;
import org.jspecify.annotations.Nullable;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;

/** Stores a record as one string with all its fields: SET, GET. Immutable. */
public final class StringRecords implements RecordCoding {

    private final VarveOptions.TtlMode ttlMode;
    private final int fieldCount;

    public StringRecords(VarveOptions.TtlMode ttlMode, int fieldCount) {
        this.ttlMode = ttlMode;
        this.fieldCount = fieldCount;
    }

    @Override
    public RedisFuture<?>[] write(RedisClusterAsyncCommands<byte[], byte[]> redis, byte[] key,
            Map<String, byte[]> fields,
            long ttlMillis) {
        byte[] packed = PackedRecord.pack(fields);
        if (ttlMillis == NO_TTL) {
            return new RedisFuture<?>[] {redis.set(key, packed)};
        }
        if (ttlMode == VarveOptions.TtlMode.EX) {
            return new RedisFuture<?>[] {redis.set(key, packed, Connection.expiring(ttlMillis))};
        }
        return new RedisFuture<?>[] {redis.set(key, packed), Connection.expire(redis, key, ttlMillis)};
    }

    @Override
    public PendingRead read(Connection connection, byte[] key, @Nullable Set<String> fields) {
        RedisFuture<byte[]> packed = connection.queue().get(key);
        return result -> take(connection.reply(packed), fields, result);
    }

    @Override
    public boolean rewritesWhole(int fieldsWritten) {
        return fieldsWritten < fieldCount;
    }

    private static boolean take(byte @Nullable [] packed, @Nullable Set<String> fields,
            Map<String, ByteIterator> result) {
        if (packed == null) {
            return false;
        }
        boolean found = false;
        for (Map.Entry<String, byte[]> field : PackedRecord.unpack(packed).entrySet()) {
            if (fields == null || fields.contains(field.getKey())) {
                found = true;
                result.put(field.getKey(), new ByteArrayByteIterator(field.getValue()));
            }
        }
        return found;
    }
}
