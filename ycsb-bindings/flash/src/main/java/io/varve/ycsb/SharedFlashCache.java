package io.varve.ycsb;

import java.io.PrintStream;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.Locale;
import java.util.SplittableRandom;

import io.varve.flash.FlashCache;
import io.varve.flash.FlashCacheStats;
import io.varve.flash.je.JeSettings;
import io.varve.flash.je.JeStore;
import io.varve.flash.mvstore.MvSettings;
import io.varve.flash.mvstore.MvStore;
import io.varve.flash.store.FlashStore;
import org.jspecify.annotations.Nullable;

/**
 * The cache that all clients of a process share: the first client that needs it opens it, and the last one that ends
 * closes it. Guarded by {@code this}.
 */
final class SharedFlashCache {
    private static final long SEED = 1;

    private int clients;
    private @Nullable Opened opened;

    /** An open cache and where its policy's memory comes from. Immutable. */
    private record Opened(FlashCache cache, Arena arena) {}

    /** Registers a client before its use, so that a fast client does not close the cache before a slow one opens it. */
    synchronized void join() {
        clients++;
    }

    synchronized FlashCache open(FlashTierOptions options) {
        Opened present = opened;
        if (present == null) {
            present = openFiles(options);
            opened = present;
        }
        return present.cache;
    }

    private static Opened openFiles(FlashTierOptions options) {
        Arena arena = Arena.ofShared();
        FlashStore flash = store(options, options.flashDirectory(), options.flashCacheBytes());
        FlashStore disk;
        try {
            disk = store(options, options.diskDirectory(), options.diskCacheBytes());
        } catch (RuntimeException failed) {
            flash.close();
            throw failed;
        }
        FlashCache cache = new FlashCache(flash, disk,
                options.policy().create(arena, options.settings().items(), new SplittableRandom(SEED)),
                options.settings(), System::nanoTime);
        return new Opened(cache, arena);
    }

    private static FlashStore store(FlashTierOptions options, Path directory, long cacheBytes) {
        return switch (options.store()) {
            case JE -> JeStore.open(directory, JeSettings.of(cacheBytes));
            case MVSTORE -> MvStore.open(directory, MvSettings.of(cacheBytes).withSync(options.settings().sync()));
        };
    }

    /** Ends a client's use; the last one prints the counters of the cache and closes it. */
    synchronized void leave(PrintStream to) {
        clients--;
        Opened last = opened;
        if (clients > 0 || last == null) {
            return;
        }
        opened = null;
        FlashCacheStats stats = last.cache.stats();
        try {
            last.cache.close();
        } finally {
            last.arena.close();
        }
        print(to, stats);
    }

    /** In the form of YCSB's own measurements. */
    private static void print(PrintStream to, FlashCacheStats stats) {
        to.println("[FLASH], Items, " + stats.items());
        to.println("[FLASH], Hits, " + stats.hits());
        to.println("[FLASH], Misses, " + stats.misses());
        to.println(String.format(Locale.ROOT, "[FLASH], HitRatio, %.5f", stats.hitRatio()));
        to.println("[FLASH], Evictions, " + stats.evictions());
        to.println("[FLASH], KeysTraversed, " + stats.keysTraversed());
        to.println("[FLASH], WrittenBack, " + stats.writtenBack());
        to.println("[FLASH], Corrupt, " + stats.corrupt());
        to.println("[FLASH], Failures, " + stats.failures());
        to.println("[FLASH], PolicyBytes, " + stats.policyBytes());
    }
}
