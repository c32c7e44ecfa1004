package io.varve.examples;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.Vector;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Jedis;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.Status;
import site.ycsb.StringByteIterator;

/**
 * YCSB's records in the format of its own Redis binding: a hash for each, and one sorted set of all keys, by the hash
 * code of the key, which scans read. Confined to one thread.
 */
@SuppressWarnings("deprecation") // HMSET and ZRANGEBYSCORE are what the binding sends
final class IndexedRecords extends DB {
    static final String INDEX = "_indices";

    private final Jedis redis;

    IndexedRecords(Jedis redis) {
        this.redis = redis;
    }

    @Override
    public Status insert(String table, String key, Map<String, ByteIterator> values) {
        redis.hmset(key, StringByteIterator.getStringMap(values));
        redis.zadd(INDEX, place(key), key);
        return Status.OK;
    }

    @Override
    public Status update(String table, String key, Map<String, ByteIterator> values) {
        redis.hmset(key, StringByteIterator.getStringMap(values));
        return Status.OK;
    }

    @Override
    public Status read(String table, String key, @Nullable Set<String> fields, Map<String, ByteIterator> result) {
        if (fields == null) {
            StringByteIterator.putAllAsByteIterators(result, redis.hgetAll(key));
        } else {
            List<String> names = new ArrayList<>(fields);
            List<String> values = redis.hmget(key, names.toArray(String[]::new));
            for (int i = 0; i < names.size(); i++) {
                if (values.get(i) != null) {
                    result.put(names.get(i), new StringByteIterator(values.get(i)));
                }
            }
        }
        return result.isEmpty() ? Status.NOT_FOUND : Status.OK;
    }

    @Override
    @SuppressWarnings({"JdkObsolete", "NonApiType"}) // as YCSB declares it
    public Status scan(String table, String start, int count, @Nullable Set<String> fields,
            Vector<HashMap<String, ByteIterator>> result) {
        for (String key : redis.zrangeByScore(INDEX, place(start), Double.POSITIVE_INFINITY, 0, count)) {
            HashMap<String, ByteIterator> record = new HashMap<>();
            if (!read(table, key, fields, record).isOk()) {
                return Status.NOT_FOUND;
            }
            result.add(record);
        }
        return result.isEmpty() ? Status.NOT_FOUND : Status.OK;
    }

    @Override
    public Status delete(String table, String key) {
        return redis.del(key) == 1 && redis.zrem(INDEX, key) == 1 ? Status.OK : Status.NOT_FOUND;
    }

    private static double place(String key) {
        return key.hashCode();
    }
}
