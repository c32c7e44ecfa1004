package io.varve.server.testing;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;

import io.varve.flash.je.JeSettings;
import io.varve.flash.je.JeStore;
import io.varve.flash.tier.FlashTier;
import io.varve.flash.tier.FlashTierStats;
import io.varve.flash.tier.TierFiles;
import io.varve.memory.Cache;
import io.varve.memory.CacheSession;
import io.varve.memory.item.Item;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.server.Tiers;
import io.varve.server.VarveServer;
import io.varve.server.config.ServerConfig;
import org.awaitility.Awaitility;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A server over flash in this process, with so much memory that items are demoted only when the test does so. Confined
 * to the test's thread.
 */
public final class ServerOverFlash implements AutoCloseable {
    private static final long MEMORY_BYTES = 8L << 20;
    /** Memory that the cache needs itself, and a little more. */
    private static final long KEPT_BYTES = 128 << 10;

    private static final Duration POLL = Duration.ofMillis(5);

    private final VarveServer server;
    private final Cache cache;
    private final FlashTier tier;
    private final HookedStore store;
    private final CacheSession session;
    private final Item item = new Item();

    public ServerOverFlash(Path directory) throws IOException {
        ServerConfig config = ServerConfig.defaults().with("port", "0").with("maxmemory", Long.toString(MEMORY_BYTES))
                .with("shards", "4").with("segment-size", "16kb").with("segment-heads", "2").with("io-threads", "2")
                .with("maxmemory-policy", "allkeys-random").with("flash-queue-size", "64mb").validate();
        HookedStore[] opened = new HookedStore[1];
        TierFiles files = TierFiles.open(directory,
                at -> opened[0] = new HookedStore(JeStore.open(at, JeSettings.of(8 << 20))),
                config.cacheConfig().databases(), false, 1_700_000_000_000L);
        store = opened[0];
        cache = Cache.open(config.cacheConfig().withHashSeed(files.hashSeed()));
        tier = FlashTier.start(files, cache, config.flashSettings());
        server = VarveServer.start(config, new Tiers(cache, tier));
        session = cache.newSession();
        // Otherwise a few keys would fit beside the memory that is requested to demote them.
        assertThat(cache.chargeExternal(2 * KEPT_BYTES)).isTrue();
    }

    int port() {
        return server.port();
    }

    public RawClient connect() throws IOException {
        return new RawClient(server.port());
    }

    public HookedStore store() {
        return store;
    }

    public FlashTierStats stats() {
        return tier.stats();
    }

    /** All keys of all databases fall that can, these of database 0 in any case. */
    public void drop(String... keys) {
        drop(0, keys);
    }

    public void drop(int database, String... keys) {
        for (String key : keys) {
            do {
                // Whether that is enough or not: what is there has to go.
                cache.admit(MEMORY_BYTES - KEPT_BYTES);
                if (Thread.currentThread().isInterrupted()) {
                    throw new IllegalStateException(key + " does not fall");
                }
            } while (isInMemory(database, key));
        }
    }

    /** Looks often: what a test waits for here takes some milliseconds. */
    public static void await(Callable<Boolean> condition) {
        Awaitility.await().pollDelay(Duration.ZERO).pollInterval(POLL).until(condition);
    }

    /** Waits until all demoted items are written. */
    public void awaitWritten() {
        await(() -> tier.stats().queueDepth() == 0);
    }

    public boolean isInMemory(int database, String name) {
        try (Arena arena = Arena.ofConfined()) {
            byte[] bytes = name.getBytes(StandardCharsets.ISO_8859_1);
            long address = arena.allocate(bytes.length + 1L).address();
            Memory.copy(bytes, 0, address, bytes.length);
            Key key = new Key();
            session.now(System.currentTimeMillis());
            session.bind(key, database, address, bytes.length);
            session.lock(key);
            try {
                return session.peek(key, item);
            } finally {
                session.unlock(key);
            }
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
    }
}
