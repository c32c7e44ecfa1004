package io.varve.server.command.dump;

import io.varve.memory.CacheSession;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Item;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.memory.report.HitMissSnapshot;
import io.varve.memory.shard.ShardSet;
import io.varve.server.admin.LoopCounters;
import io.varve.server.command.CommandContext;
import io.varve.server.command.ServerState;
import io.varve.server.persistence.ChangeRecorder;
import io.varve.server.persistence.ReusedText;

/**
 * Copies the values of keys as payloads of DUMP, without a client. Confined to one thread. It holds the shard of a key
 * while it copies.
 */
public final class KeyExport implements AutoCloseable {
    private static final int DATABASE = 0;
    /** Attempts to copy a value for which memory has to be freed first. */
    private static final int MAX_ATTEMPTS = 8;

    private final ServerState server;
    private final CacheSession session;
    private final CommandContext context;
    private final DumpWriter writer;
    private final ChangeRecorder recorder;
    private final ShardSet shard;
    private final HitMissSnapshot counters;
    private final ReusedText nameMemory = new ReusedText();
    private final Key key = new Key();
    private final Item item = new Item();
    private int length;
    private long expireAtMillis;
    private boolean isPinned;

    public KeyExport(ServerState server) {
        this.server = server;
        session = server.cache().newSession();
        session.touching(false);
        session.notifying(false);
        recorder = new ChangeRecorder(server.changes(), session);
        context = new CommandContext(server.cache(), session, server, null, null, new LoopCounters(0), recorder);
        writer = DumpWriter.of(context);
        shard = new ShardSet(server.cache().shardCount());
        counters = new HitMissSnapshot(server.cache().shardCount());
    }

    /**
     * Copies the value of a key.
     *
     * @param underLock runs under the lock of the key's shard, before the key is looked up
     * @return false if there is no such key
     * @throws CacheFullException if there is no memory for the copy
     */
    public boolean copy(byte[] name, Runnable underLock) {
        long address = nameMemory.take(name.length);
        Memory.copy(name, 0, address, name.length);
        session.bind(key, DATABASE, address, name.length);
        for (int attempt = 1;; attempt++) {
            try {
                return tryCopy(underLock);
            } catch (CacheFullException full) {
                release();
                if (attempt == MAX_ATTEMPTS || !full.isRecoverable() || !server.cache().admit(full.bytes())) {
                    throw full;
                }
            }
        }
    }

    private boolean tryCopy(Runnable underLock) {
        session.now(server.ticker().wallMillis());
        session.lock(key);
        try {
            underLock.run();
            if (!session.peek(key, item)) {
                return false;
            }
            expireAtMillis = item.expireAtMillis() == Item.NEVER ? 0 : item.expireAtMillis();
            isPinned = session.isPinned(item);
            shard.clear();
            shard.add(key.shard());
            session.note(shard, counters);
            try {
                length = writer.encode(context, key, item);
            } finally {
                session.forgetSince(shard, counters);
            }
            return true;
        } finally {
            session.unlock(key);
        }
    }

    /** The bytes of the last payload. */
    public int length() {
        return length;
    }

    /** A part of the last payload, until {@link #release}. */
    public void get(int from, byte[] to, int count) {
        Memory.copy(writer.address() + from, to, 0, count);
    }

    /** When the last key expires, in milliseconds since the epoch; 0: never. */
    public long expireAtMillis() {
        return expireAtMillis;
    }

    /** Whether the last key was pinned. The payload does not say it. */
    public boolean isPinned() {
        return isPinned;
    }

    /** Frees the payload. */
    public void release() {
        writer.release();
    }

    @Override
    public void close() {
        release();
        recorder.close();
        nameMemory.close();
    }
}
