package io.varve.server;

import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.function.Function;

import io.varve.flash.je.JeSettings;
import io.varve.flash.je.JeStore;
import io.varve.flash.store.FlashStore;
import io.varve.flash.store.StoreException;
import io.varve.flash.tier.FlashTier;
import io.varve.flash.tier.TierFiles;
import io.varve.memory.Cache;
import io.varve.memory.config.CacheConfig;
import io.varve.server.config.MachineMemory;
import io.varve.server.config.ServerConfig;
import io.varve.server.persistence.ReplayClock;
import io.varve.server.recovery.Recovery;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The memory tier and, if {@code flash-dir} is set, the flash tier below it. Immutable; {@link #close} is called once.
 *
 * @param cache the memory tier
 * @param flash the flash tier; null if it is not configured
 */
public record Tiers(Cache cache, @Nullable FlashTier flash) implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Tiers.class);
    /**
     * The store stops writing below this free space: well below the tier's own limit, since the tier must still be able
     * to remove items then.
     */
    private static final long FREE_DISK_BYTES = 32L << 20;

    /**
     * Opens both tiers.
     *
     * @throws IllegalArgumentException if the configuration cannot work, or another process uses the directory
     */
    public static Tiers open(ServerConfig config) {
        Path directory = config.flashDirectory().orElse(null);
        if (directory == null) {
            CacheConfig wanted = config.cacheConfig();
            return new Tiers(
                    Cache.open(wanted.withTicker(new ReplayClock(wanted.ticker())), MachineMemory.totalBytes()), null);
        }
        CacheConfig wanted = config.cacheConfig();
        if (!wanted.evictionPolicy().evicts()) {
            throw new IllegalArgumentException("flash-dir " + directory + ": with maxmemory-policy "
                    + config.text("maxmemory-policy")
                    + " nothing would be demoted to it; expected a policy that evicts, such as allkeys-lru");
        }
        TierFiles files = openFiles(config, directory, wanted);
        try {
            Cache cache = Cache.open(wanted.withHashSeed(files.hashSeed()).withTicker(new ReplayClock(wanted.ticker())),
                    MachineMemory.totalBytes());
            try {
                return new Tiers(cache, start(config, files, cache));
            } catch (RuntimeException failed) {
                cache.close();
                throw failed;
            }
        } catch (RuntimeException | Error failed) {
            files.close();
            throw failed;
        }
    }

    private static TierFiles openFiles(ServerConfig config, Path directory, CacheConfig cache) {
        requireHeap(config);
        // The store has no size limit of its own: at its limit it could neither remove records nor clean.
        JeSettings settings = JeSettings.of(config.number("flash-cache-size")).withDisk(0, FREE_DISK_BYTES);
        try {
            Function<Path, FlashStore> opener = at -> JeStore.open(at, settings);
            boolean isSynced = config.bool("flash-sync");
            long wallMillis = cache.ticker().wallMillis();
            return Recovery.loadsFile(config)
                    ? TierFiles.openEmpty(directory, opener, cache.databases(), isSynced, wallMillis)
                    : TierFiles.open(directory, opener, cache.databases(), isSynced, wallMillis);
        } catch (StoreException failed) {
            throw new IllegalArgumentException("flash-dir " + directory + ": "
                    + (failed.kind() == StoreException.Kind.LOCKED
                            ? "another process uses it; expected a directory that only this server uses"
                            : failed.getMessage()),
                    failed);
        } catch (UncheckedIOException failed) {
            throw new IllegalArgumentException(
                    "flash-dir " + directory + ": expected a writable directory ("
                            + failed.getCause() + ")",
                    failed);
        }
    }

    private static void requireHeap(ServerConfig config) {
        long heap = Runtime.getRuntime().maxMemory();
        long wanted = config.number("flash-cache-size") + 2 * config.number("flash-queue-size");
        if (wanted > heap / 2) {
            throw new IllegalArgumentException("flash-cache-size " + config.text("flash-cache-size")
                    + ", flash-queue-size "
                    + config.text("flash-queue-size")
                    + ": flash-cache-size plus twice flash-queue-size may be at most half of the heap, "
                    + heap / 2 + " bytes");
        }
    }

    private static FlashTier start(ServerConfig config, TierFiles files, Cache cache) {
        FlashTier tier = FlashTier.start(files, cache, config.flashSettings());
        long bytes = tier.stats().policyRamBytes() + tier.stats().memberRamBytes();
        if (!cache.chargeExternal(bytes)) {
            tier.close();
            throw new IllegalArgumentException("flash-max-items " + config.text("flash-max-items")
                    + ": this many items need "
                    + bytes + " bytes of memory; expected what fits into maxmemory " + config.maxMemoryBytes());
        }
        return tier;
    }

    @Override
    public void close() {
        if (flash != null) {
            flash.close();
            if (!flash.hasEnded()) {
                LOG.warn("A thread of the flash tier has not ended: its memory stays allocated until the process ends");
                return;
            }
        }
        cache.close();
    }
}
