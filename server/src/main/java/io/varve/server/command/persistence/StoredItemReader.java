package io.varve.server.command.persistence;

import java.lang.foreign.MemorySegment;
import java.util.function.BiConsumer;

import io.varve.memory.Cache;
import io.varve.memory.CacheSession;
import io.varve.memory.config.CacheConfig;
import io.varve.memory.item.Item;
import io.varve.memory.item.Key;
import io.varve.memory.item.StoredItem;
import io.varve.memory.offheap.Memory;
import io.varve.server.admin.LoopCounters;
import io.varve.server.command.CommandContext;
import io.varve.server.command.ServerState;
import io.varve.server.persistence.ChangeRecorder;
import io.varve.server.system.NativeMemory;

/**
 * Reads items of the flash tier as commands read items in memory: one at a time, in a small cache of its own. Guarded
 * by its owner's monitor.
 */
final class StoredItemReader implements AutoCloseable {
    /** Several times the largest item on flash. */
    private static final long MEMORY_BYTES = 16 << 20;
    private static final int ITEM_OVERHEAD_BYTES = 256;
    private static final int FIRST_KEY_BYTES = 256;
    private static final int UNKNOWN_CLASS = CacheSession.UNKNOWN_CLASS;

    private final Cache cache;
    private final CacheSession session;
    private final CommandContext context;
    private final Key key = new Key();
    private final Item item = new Item();
    private MemorySegment keyBytes = NativeMemory.collected(FIRST_KEY_BYTES);

    /** @param nowMillis the time of all lookups */
    StoredItemReader(ServerState server, long nowMillis) {
        CacheConfig config = server.cache().config();
        cache = Cache.open(CacheConfig.builder(MEMORY_BYTES).databases(1).shards(1)
                .evictionPolicy(config.evictionPolicy()).ticker(config.ticker()).build());
        session = cache.newSession();
        session.touching(false);
        session.notifying(false);
        session.now(nowMillis);
        context = new CommandContext(cache, session, server, null, null, new LoopCounters(0),
                new ChangeRecorder(server.changes(), session));
    }

    /** The session in which the item can be looked up. */
    CacheSession session() {
        return session;
    }

    /** The context of its commands. */
    CommandContext context() {
        return context;
    }

    /** Passes an item to a reader, which looks it up in this cache. */
    void read(StoredItem stored, BiConsumer<Key, Item> reader) {
        byte[] name = stored.key();
        if (name.length > keyBytes.byteSize()) {
            keyBytes = NativeMemory.collected(2L * name.length);
        }
        Memory.copy(name, 0, keyBytes.address(), name.length);
        if (!cache.admit((long) name.length + stored.valueLength() + ITEM_OVERHEAD_BYTES)) {
            throw new IllegalStateException("an item of " + stored.valueLength() + " bytes does not fit");
        }
        session.bind(key, 0, keyBytes.address(), name.length);
        session.lock(key);
        try {
            if (session.restore(key, stored.type(), stored.encoding(), stored.value(), stored.from(),
                    stored.valueLength(), stored.expireAtMillis(), stored.access(), UNKNOWN_CLASS)
                    && session.peek(key, item)) {
                reader.accept(key, item);
            }
            boolean existed = session.delete(key);
            assert existed : "an item that has expired is not captured";
        } finally {
            session.unlock(key);
        }
    }

    @Override
    public void close() {
        cache.close();
    }
}
