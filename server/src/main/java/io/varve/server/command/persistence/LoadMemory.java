package io.varve.server.command.persistence;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.atomic.AtomicInteger;

import io.varve.flash.store.StoreException;
import io.varve.flash.tier.FlashTier;
import io.varve.memory.Cache;
import io.varve.server.command.ServerState;
import org.jspecify.annotations.Nullable;

/**
 * The memory for a load at the start: maxmemory does not limit it, because nothing may be evicted that the file has.
 * With a flash tier, items beyond maxmemory are demoted, and stay there. {@link #relieve} is thread-safe.
 */
public final class LoadMemory {
    /** After nothing could be demoted, so many calls of {@link #relieve} try nothing. */
    private static final int QUIET_CALLS = 1000;

    private final ServerState server;
    private final Cache cache;
    private final @Nullable FlashTier flash;
    private final AtomicInteger quiet = new AtomicInteger();

    private LoadMemory(ServerState server) {
        this.server = server;
        cache = server.cache();
        flash = server.flash();
    }

    /** Lifts the limit. The flash tier drops what it has: the data comes from a file. */
    public static LoadMemory begin(ServerState server) throws IOException {
        LoadMemory begun = new LoadMemory(server);
        server.cache().reconfigure(server.cache().config()
                .withMaxMemoryBytes(server.cache().highestMaxMemoryBytes()));
        FlashTier flash = server.flash();
        if (flash != null) {
            if (!flash.isEmpty()) {
                throw new IOException("the flash tier was opened with the items of an earlier run, and has to be empty"
                        + " because the data is loaded from a file");
            }
            flash.beginLoad();
        }
        return begun;
    }

    /** Demotes items if they take more than maxmemory. Called between two entries or commands, without locks. */
    public void relieve() {
        if (flash == null || quiet.get() > 0 && quiet.decrementAndGet() > 0) {
            return;
        }
        if (!cache.reclaimTo(server.config().maxMemoryBytes())) {
            quiet.set(QUIET_CALLS);
        }
    }

    /**
     * All data is loaded.
     *
     * @throws IOException if an item may have been lost on its way to flash
     */
    public void endLoad() throws IOException {
        if (flash == null) {
            return;
        }
        try {
            flash.endLoad();
        } catch (StoreException | UncheckedIOException failed) {
            throw new IOException("the data could not be loaded, because flash-dir cannot be written", failed);
        }
    }

    /** Maxmemory holds from here on: what does not fit is evicted. */
    public void restoreLimit() {
        cache.reconfigure(cache.config().withMaxMemoryBytes(server.config().maxMemoryBytes()));
    }
}
