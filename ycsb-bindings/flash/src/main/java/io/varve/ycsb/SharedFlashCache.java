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
 * The one cache of all clients of a process: the first that needs it opens it, the last that leaves closes it. Guarded by
 * itself.
 */
final class SharedFlashCache {
    private static final long SEED = 1;

    private int clients;
    private @Nullable Opened opened;

    /** An open cache and where its policy's memory comes from. Immutable. */
    private record Opened(FlashCache cache, Arena arena) {}

    /** A client was made. Called before it is used, so that a fast client does not close what a slow one is to open. */
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

    /** A client has ended; after the last it is told what the cache has done. */
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
        tell(to, stats);
    }

    /** In the form of YCSB's own measurements. */
    private static void tell(PrintStream to, FlashCacheStats stats) {
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
