package io.varve.server.clients;

import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.TrackingArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.support.caching.CacheAccessor;
import io.lettuce.core.support.caching.CacheFrontend;
import io.lettuce.core.support.caching.ClientSideCaching;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.csc.Cache;
import redis.clients.jedis.csc.CacheConfig;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Tests the client-side caches of client libraries, with Varve's invalidations. Confined to the test's thread. */
@Timeout(60)
class TrackingClientsIT {
    private static final int KEYS = 100;

    @RegisterExtension
    final ServerExtension server = ServerExtension.with("io-threads 2", "maxmemory 64mb");
    private RawClient writer;

    @BeforeEach
    void start() throws IOException {
        writer = server.connect();
    }

    @Test
    void lettuceKeepsWhatItReadsUntilItChanges() {
        Map<String, String> cached = new ConcurrentHashMap<>();
        try (RedisClient client = RedisClient.create(RedisURI.create("127.0.0.1", server.port()));
                StatefulRedisConnection<String, String> connection = client.connect();
                CacheFrontend<String, String> cache = ClientSideCaching.enable(CacheAccessor.forMap(cached), connection,
                        TrackingArgs.Builder.enabled().noloop())) {
            for (int round = 0; round < 3; round++) {
                for (int i = 0; i < KEYS; i++) {
                    set("key" + i, "value" + round);
                }
                await().until(cached::isEmpty);
                for (int i = 0; i < KEYS; i++) {
                    assertThat(cache.get("key" + i)).isEqualTo("value" + round);
                }
                assertThat(cached).hasSize(KEYS);
            }
            set("key0", "another");
            await().until(() -> !cached.containsKey("key0"));
            assertThat(cached).hasSize(KEYS - 1);
            assertThat(cache.get("key0")).isEqualTo("another");
        }
    }

    /** It refuses a server that reports a version before 7.4. */
    @Test
    void jedisKeepsWhatItReadsUntilItChanges() {
        try (UnifiedJedis client = redis.clients.jedis.RedisClient.builder()
                .hostAndPort(new HostAndPort("127.0.0.1", server.port()))
                .clientConfig(DefaultJedisClientConfig.builder().protocol(RedisProtocol.RESP3).build())
                .cacheConfig(CacheConfig.builder().maxSize(KEYS * 2).build()).build()) {
            Cache cache = client.getCache();
            for (int round = 0; round < 3; round++) {
                for (int i = 0; i < KEYS; i++) {
                    set("key" + i, "value" + round);
                }
                for (int i = 0; i < KEYS; i++) {
                    String key = "key" + i;
                    String value = "value" + round;
                    // Its invalidation is on its way when the writer has its reply.
                    String read = client.get(key);
                    while (!value.equals(read)) {
                        Thread.onSpinWait();
                        read = client.get(key);
                    }
                }
                long misses = cache.getStats().getMissCount();
                for (int i = 0; i < KEYS; i++) {
                    assertThat(client.get("key" + i)).isEqualTo("value" + round);
                }
                assertThat(cache.getStats().getMissCount()).as("all are cached").isEqualTo(misses);
                assertThat(cache.getSize()).isEqualTo(KEYS);
            }
            assertThat(call("FLUSHALL")).isEqualTo("OK");
            await().until(() -> client.get("key1") == null);
            assertThat(cache.getSize()).isLessThanOrEqualTo(1);
        }
    }

    private void set(String key, String value) {
        assertThat(call("SET", key, value)).isEqualTo("OK");
    }

    private String call(String... command) {
        try {
            return writer.call(command).text();
        } catch (IOException failed) {
            throw new java.io.UncheckedIOException(failed);
        }
    }
}
