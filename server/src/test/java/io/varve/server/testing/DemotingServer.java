package io.varve.server.testing;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

import io.varve.flash.je.JeSettings;
import io.varve.flash.je.JeStore;
import io.varve.flash.tier.FlashTier;
import io.varve.flash.tier.FlashTierStats;
import io.varve.flash.tier.TierFiles;
import io.varve.memory.Cache;
import io.varve.server.Tiers;
import io.varve.server.VarveServer;
import io.varve.server.config.ServerConfig;

/**
 * A server over flash in this process that constantly demotes all items, so that commands find their keys on flash.
 * Confined to the test's thread, except the thread that demotes.
 */
public final class DemotingServer {
    private static final long MEMORY_BYTES = 8L << 20;
    /** The part of memory that the cache reserves for itself, and a little more. */
    private static final long KEPT_BYTES = 128 << 10;
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final Cache cache;
    private final FlashTier tier;
    private final VarveServer server;
    private final Thread demoter;
    private volatile boolean isStopping;

    /**
     * @param servers starts the server, and watches its error log
     * @param directory of the flash tier
     * @param settings further lines of the configuration file
     */
    public DemotingServer(ServerExtension servers, Path directory, String... settings) throws IOException {
        ServerConfig config = ServerExtension.config(Stream.concat(
                Stream.of("maxmemory " + MEMORY_BYTES, "shards 4", "segment-size 16kb", "segment-heads 2",
                        "maxmemory-policy allkeys-random", "flash-queue-size 64mb"),
                Stream.of(settings)).toArray(String[]::new));
        TierFiles files = TierFiles.open(directory, at -> JeStore.open(at, JeSettings.of(8 << 20)),
                config.cacheConfig().databases(), false, 1_700_000_000_000L);
        cache = Cache.open(config.cacheConfig().withHashSeed(files.hashSeed()));
        tier = FlashTier.start(files, cache, config.flashSettings());
        server = servers.start(config, new Tiers(cache, tier));
        demoter = Thread.ofPlatform().daemon().start(this::demote);
    }

    /** Reserves nearly all of memory again and again. Even a failed reservation demotes the items first. */
    private void demote() {
        while (!isStopping) {
            LockSupport.parkNanos(this, cache.admit(MEMORY_BYTES - KEPT_BYTES) ? PAUSE_NANOS : 2 * PAUSE_NANOS);
        }
    }

    public int port() {
        return server.port();
    }

    public Cache cache() {
        return cache;
    }

    public FlashTierStats stats() {
        return tier.stats();
    }

    /** Ends the demotions, then closes the server. A test calls it before it ends. */
    public void stop() throws InterruptedException {
        isStopping = true;
        demoter.join();
        server.close();
    }
}
