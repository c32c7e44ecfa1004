package io.varve.server.command.blocking;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

import io.varve.memory.CacheSession;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.offheap.Memory;
import io.varve.memory.shard.ShardSet;
import io.varve.server.admin.LoopCounters;
import io.varve.server.blocking.BlockedClient;
import io.varve.server.blocking.BlockedKeys;
import io.varve.server.blocking.PopRunner;
import io.varve.server.blocking.ReadyKeys;
import io.varve.server.command.CommandContext;
import io.varve.server.command.ServerState;
import io.varve.server.command.batch.Batch;
import io.varve.server.command.blocking.Blocking.Taken;
import io.varve.server.command.flash.FlashKeyFetcher;
import io.varve.server.command.session.Client;
import io.varve.server.keys.HeapKey;
import io.varve.server.persistence.ChangeRecorder;
import io.varve.server.resp.NoBufferException;
import io.varve.server.resp.ReplyWriter;
import io.varve.server.resp.ServedReply;
import io.varve.server.tracking.Tracker;
import io.varve.server.tracking.Tracking;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs commands that make keys of blocked clients ready, and then the pops of these clients, before the shards are
 * unlocked. Confined to its event loop.
 *
 * <p>A pop runs on a context of its own, whose batch has two keys and no arguments, because the arguments of the
 * blocked command belong to another event loop. Its reply, in the client's protocol, goes to that loop.
 */
public final class BlockedClientServer implements PopRunner, AutoCloseable {
    /** Clients that wait for a key with a longer name re-run their commands. */
    private static final int MAX_NAME_BYTES = 16 << 10;
    /**
     * Nothing is evicted under the shard locks. A move of up to this size exceeds maxmemory instead, as in Redis, and
     * the next write evicts for it.
     */
    private static final long MAX_OVERDRAFT_BYTES = 1 << 20;
    private static final int SOURCE = 0;
    private static final int TARGET = 1;
    private static final Logger LOG = LoggerFactory.getLogger(BlockedClientServer.class);

    private final CacheSession session;
    private final BlockedKeys blockedKeys;
    private final Tracking tracking;
    private final @Nullable FlashKeyFetcher keyFetcher;
    private final CommandContext context;
    private final ChangeRecorder recorder;
    private final Batch batch = Batch.ofKeys(2);
    /** The names of the keys. */
    private final ByteBuffer names = ByteBuffer.allocateDirect(2 * MAX_NAME_BYTES);
    private final ReadyKeys ready = new ReadyKeys();
    private final ShardSet reachable;
    private final Item item = new Item();
    /** Created for the first client that is served. */
    private @Nullable ReplyWriter writer;

    /**
     * @param session the session of its event loop
     * @param keyFetcher the fetcher for the flash tier; null if there is none
     */
    public BlockedClientServer(ServerState server, CacheSession session, @Nullable FlashKeyFetcher keyFetcher,
            LoopCounters counters, ChangeRecorder recorder) {
        this.session = session;
        this.keyFetcher = keyFetcher;
        blockedKeys = server.blockedKeys();
        tracking = server.notifications().tracking();
        context = new CommandContext(server.cache(), session, server, keyFetcher, null, counters, recorder);
        this.recorder = recorder;
        reachable = new ShardSet(server.cache().shardCount());
    }

    /** Releases pooled memory. Called after its event loop has ended. */
    @Override
    public void close() {
        if (writer != null) {
            writer.close();
        }
    }

    // --- before and after the command

    /**
     * Whether all shards are locked into which blocked clients may move elements of some keys.
     *
     * @param locked the locked shards, those of the keys among them
     */
    public boolean coversMoves(ShardSet locked, Batch keys, int first, int count) {
        if (!blockedKeys.isAnyMoving()) {
            return true;
        }
        reachable.clear();
        for (int i = first; i < first + count; i++) {
            blockedKeys.addReachable(keys.key(i), reachable);
        }
        return locked.containsAll(reachable);
    }

    /** Adds the shards that the last {@link #coversMoves} found. */
    public void addMoves(ShardSet shards) {
        shards.addAll(reachable);
    }

    /** Runs a command under its shard locks, and serves the clients whose keys it makes ready. */
    public void run(CommandContext command, Runnable action) {
        blockedKeys.collect(ready);
        try {
            action.run();
        } finally {
            // A command that fails may have changed keys before.
            serve(command);
        }
    }

    private void serve(CommandContext command) {
        if (ready.isEmpty()) {
            blockedKeys.serve(ready, this);
            return;
        }
        if (writer == null) {
            writer = command.reply().sibling();
        }
        Tracker tracker = Tracking.running();
        try {
            blockedKeys.serve(ready, this);
        } finally {
            tracking.running(tracker);
            session.touching(!command.client().noTouch());
            session.writesInto(command.client().writesInto());
        }
    }

    // --- one client

    @Override
    public boolean open(HeapKey key) {
        // It may have moved to flash since, for another key that a script waited for: the clients fetch it.
        return bind(SOURCE, key) && isInMemoryOrNowhere(SOURCE);
    }

    private boolean isInMemoryOrNowhere(int index) {
        return keyFetcher == null || !keyFetcher.isMissing(batch, batch.key(index));
    }

    private boolean bind(int index, HeapKey name) {
        if (name.name().length() > MAX_NAME_BYTES) {
            return false;
        }
        byte[] bytes = name.bytes();
        long address = MemorySegment.ofBuffer(names).address() + index * (long) MAX_NAME_BYTES;
        Memory.copy(bytes, 0, address, bytes.length);
        session.bind(batch.key(index), name.database(), address, bytes.length);
        return true;
    }

    @Override
    public @Nullable ItemType type() {
        return session.peek(batch.key(SOURCE), item) ? item.type() : null;
    }

    @Override
    public Result pop(BlockedClient blocked) {
        BlockedCommand command = (BlockedCommand) blocked;
        Client client = command.client();
        if (client.killed()) {
            return Result.SKIPPED;
        }
        if (!client.user().equals(command.user()) || !openTarget(command)) {
            return Result.RERUN;
        }
        ReplyWriter reply = java.util.Objects.requireNonNull(writer);
        reply.protocol(client.protocol());
        tracking.running(client.tracker());
        session.touching(!client.noTouch());
        session.writesInto(client.writesInto());
        context.begin(client, reply, command.spec(), batch, 0);
        Taken taken = take(command, reply, false);
        if (taken == null) {
            reply.rollback(0);
            return Result.RERUN;
        }
        return switch (taken) {
            case MISSING, WRONG_TYPE -> Result.NOTHING;
            case NOT_YET -> Result.SKIPPED;
            case SOME, LAST -> {
                client.repliesAfter(recorder.offset());
                client.waitState().servedReply(ServedReply.of(reply));
                yield taken == Taken.SOME ? Result.SERVED : Result.SERVED_LAST;
            }
            case REFUSED -> {
                client.waitState().servedReply(ServedReply.error(reply.lastError()));
                reply.rollback(0);
                yield Result.SERVED;
            }
        };
    }

    /** @return whether the client's target, if it has one, is locked and in memory */
    private boolean openTarget(BlockedCommand command) {
        HeapKey name = command.target();
        return name == null || bind(TARGET, name) && session.isLockedByMe(batch.key(TARGET))
                && isInMemoryOrNowhere(TARGET);
    }

    /** @return null if the pop has found no memory and changed nothing */
    private @Nullable Taken take(BlockedCommand command, ReplyWriter reply, boolean beyondMaxmemory) {
        try {
            return command.pop().from(context, SOURCE);
        } catch (NoBufferException none) {
            return null;
        } catch (CacheFullException full) {
            reply.rollback(0);
            return beyondMaxmemory || !full.isRecoverable() || full.bytes() > MAX_OVERDRAFT_BYTES
                    ? null
                    : takeBeyondMaxmemory(command, reply);
        } catch (RuntimeException bug) {
            LOG.error("Command {} failed for a blocked client", command.spec().fullName(), bug);
            reply.rollback(0);
            reply.error("ERR internal error");
            return Taken.REFUSED;
        }
    }

    private @Nullable Taken takeBeyondMaxmemory(BlockedCommand command, ReplyWriter reply) {
        session.beginOverdraft();
        try {
            return take(command, reply, true);
        } finally {
            session.endOverdraft();
        }
    }
}
