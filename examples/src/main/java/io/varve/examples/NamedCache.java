package io.varve.examples;

import java.time.Duration;
import java.util.concurrent.Callable;

import io.lettuce.core.KeyScanCursor;
import io.lettuce.core.RedisClient;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanCursor;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import org.jspecify.annotations.Nullable;

/**
 * A cache with a name and a time to live, with the operations of Spring's {@code Cache}, which {@code @Cacheable},
 * {@code @CachePut} and {@code @CacheEvict} use. Thread-safe: all threads share one connection of Lettuce's synchronous
 * API.
 */
public final class NamedCache implements AutoCloseable {
    private static final int KEYS_AT_ONCE = 500;

    private final StatefulRedisConnection<String, String> connection;
    private final RedisCommands<String, String> redis;
    private final String name;
    private final Duration timeToLive;

    /** @param name prefix of the keys, without the characters of a pattern ({@code * ? [ ] \}) */
    public NamedCache(RedisClient client, String name, Duration timeToLive) {
        connection = client.connect();
        redis = connection.sync();
        this.name = name;
        this.timeToLive = timeToLive;
    }

    /** The cached value; null if there is none. */
    public @Nullable String get(String key) {
        return redis.get(name + "::" + key);
    }

    /**
     * The cached value, or the loader's result, which is then cached.
     *
     * @throws Exception from the loader
     */
    public String get(String key, Callable<String> loader) throws Exception {
        String kept = get(key);
        if (kept != null) {
            return kept;
        }
        String loaded = loader.call();
        put(key, loaded);
        return loaded;
    }

    public void put(String key, String value) {
        redis.set(name + "::" + key, value, SetArgs.Builder.px(timeToLive));
    }

    /** @return the value that was cached already and stays; null if the new value is cached */
    public @Nullable String putIfAbsent(String key, String value) {
        return redis.setGet(name + "::" + key, value, SetArgs.Builder.nx().px(timeToLive));
    }

    public void evict(String key) {
        redis.del(name + "::" + key);
    }

    /** Evicts all entries of this cache, and nothing else: a scan, which blocks no other client. */
    public void clear() {
        ScanArgs ours = ScanArgs.Builder.matches(name + "::*").limit(KEYS_AT_ONCE);
        ScanCursor at = ScanCursor.INITIAL;
        while (!at.isFinished()) {
            KeyScanCursor<String> found = redis.scan(at, ours);
            if (!found.getKeys().isEmpty()) {
                redis.unlink(found.getKeys().toArray(String[]::new));
            }
            at = found;
        }
    }

    @Override
    public void close() {
        connection.close();
    }
}
