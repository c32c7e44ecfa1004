package io.varve.server.command.dispatch;

import io.varve.memory.CacheSession;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Key;
import io.varve.memory.item.LockWait;
import io.varve.memory.shard.ShardSet;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.Errors;
import io.varve.server.command.Handler;
import io.varve.server.command.ServerState;
import io.varve.server.command.batch.Batch;
import io.varve.server.command.batch.KeyPrefetcher;
import io.varve.server.command.batch.ScriptUse;
import io.varve.server.command.blocking.BlockedClientServer;
import io.varve.server.command.flash.FlashKeyFetcher;
import io.varve.server.command.flash.KeyNotResidentException;
import io.varve.server.command.redirect.SlotCheck;
import io.varve.server.command.session.Client;
import io.varve.server.command.session.ParkedCommand;
import io.varve.server.command.session.Transaction;
import io.varve.server.command.spec.Arguments;
import io.varve.server.command.spec.CommandFlag;
import io.varve.server.command.spec.CommandSpec;
import io.varve.server.command.spec.CommandTrait;
import io.varve.server.persistence.ChangeStream;
import io.varve.server.resp.NoBufferException;
import io.varve.server.resp.ReplyWriter;
import io.varve.server.tracking.Tracker;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs a command under the locks of its shards, after its keys were fetched from flash, and again if it ran out of
 * memory. Confined to its event loop.
 */
final class CommandRunner {
    private static final Logger LOG = LoggerFactory.getLogger(CommandRunner.class);

    /** Maximum attempts for a command that ran out of memory, including the first. */
    static final int MAX_ATTEMPTS = 12;
    /** Maximum attempts if the needed size is unknown, or freeing memory would not help. */
    static final int MAX_ATTEMPTS_IN_VAIN = 3;
    /** Enough to double up to the largest reply, plus a few retries because other threads took the freed memory. */
    static final int MAX_REPLY_TRIES = 24;

    private final ServerState server;
    private final ChangeStream changes;
    private final CommandTable table;
    private final CacheSession session;
    private final CommandContext context;
    private final @Nullable FlashKeyFetcher keyFetcher;
    private final ShardWaiters shardWaiters;
    private final CommandTimes times;
    private final OomGuard oomGuard;
    private final BlockedClientServer blockedClients;
    /** Null if the server is no member of a cluster. */
    private final @Nullable SlotCheck slots;
    private final ShardSet shards;
    /** The wait of the client after its last command; null if it does not wait. */
    private @Nullable ParkedCommand parked;
    /** The client's tracking state for the command; null if it does not track. */
    private @Nullable Tracker tracker;
    private boolean isMissingInOtherDatabase;

    CommandRunner(ServerState server, CommandTable table, CommandContext context,
            @Nullable FlashKeyFetcher keyFetcher, ShardWaiters shardWaiters, CommandTimes times, OomGuard oomGuard,
            BlockedClientServer blockedClients, @Nullable SlotCheck slots) {
        this.slots = slots;
        this.server = server;
        changes = server.changes();
        this.table = table;
        this.context = context;
        this.keyFetcher = keyFetcher;
        this.shardWaiters = shardWaiters;
        this.times = times;
        this.oomGuard = oomGuard;
        this.blockedClients = blockedClients;
        session = context.session();
        shards = new ShardSet(server.cache().shardCount());
    }

    /** Sets the client's tracking state for the next command; null if it does not track. */
    void tracker(@Nullable Tracker value) {
        tracker = value;
    }

    @Nullable
    Tracker tracker() {
        return tracker;
    }

    /** Makes the client wait; its command runs again afterwards. */
    Outcome retryAfter(ParkedCommand wait) {
        parked = wait;
        return Outcome.RETRY;
    }

    /** Whether the client waits. */
    boolean isParked() {
        return parked != null;
    }

    /** Returns and clears the wait of the client; null if it does not wait. */
    @Nullable
    ParkedCommand takeParked() {
        ParkedCommand wait = parked;
        parked = null;
        return wait;
    }

    /**
     * Runs the handler of a command, unless its keys are being fetched; the handler may park the command.
     *
     * @param mark where its reply begins
     */
    Outcome run(Batch batch, int command, CommandSpec spec, Client client, ReplyWriter reply, long mark) {
        if (changes.holdsWrites() && (ScriptUse.mayWrite(batch, command) || writesInTransaction(spec, client))) {
            return retryAfter(HeldWrites.await(server));
        }
        if (slots != null && slots.isHeld()) {
            return retryAfter(slots.awaitRelease());
        }
        if (slots != null && slots.isLeased()
                && (batch.keyCount(command) > 0 || spec.isWrite() || spec.name().equals("exec"))) {
            client.servedUnderLease(true);
        }
        boolean wasLoading = server.load().isLoading();
        long errors = reply.errors();
        long written = reply.pendingBytes();
        if (keyFetcher == null) {
            runLocked(batch, command, spec, client, reply, mark);
        } else if (!runOverFlash(keyFetcher, batch, command, spec, client, reply, mark)) {
            return Outcome.RETRY;
        }
        ParkedCommand wait = context.takeParkedCommand();
        // A command that runs again has written nothing. Errors of an earlier attempt do not count, they were rolled
        // back.
        if (wait == null || (wait.replies() ? reply.errors() != errors : reply.pendingBytes() != written)) {
            if (server.load().isLoading() && !spec.isWrite()) {
                refuseDuringLoad(spec, client, reply, mark, wasLoading);
            }
            return Outcome.COMPLETED;
        }
        parked = wait;
        if (client.waitState().blockedClient() != null && wait.isVisible()) {
            // It waits for its keys, not for a shard: its next run may fetch keys as often as any command.
            batch.flashLookups().endCommand();
        }
        return wait.replies() ? Outcome.PARKED : Outcome.RETRY;
    }

    /**
     * A load has begun since the check of the command, or of one before it in a pipeline: keys were missing, perhaps,
     * that were there before and will be.
     */
    private static void refuseDuringLoad(CommandSpec spec, Client client, ReplyWriter reply, long mark,
            boolean wasLoading) {
        // The transaction of EXEC has ended, and may have read anything if it was admitted before the load.
        boolean mayRead = spec.name().equals("exec") ? !wasLoading : !CommandGate.mayRunDuringLoad(spec, null);
        if (mayRead && !client.connection().isReplay()) {
            reply.rollback(mark);
            Refusal.reply(client, spec, reply, Errors.LOADING);
        }
    }

    private static boolean mayWrite(CommandSpec spec) {
        return spec.isWrite() || spec.has(CommandTrait.RUNS_SCRIPT) && !spec.has(CommandFlag.READONLY);
    }

    private static boolean writesInTransaction(CommandSpec spec, Client client) {
        Transaction executed = TransactionRunner.executed(spec, client);
        return executed != null && executed.mayWrite() && ScriptUse.mayWrite(executed.batch());
    }

    /**
     * Runs a command after its keys have been fetched from flash, if they are there.
     *
     * @return false if a fetch is in progress: the command has not run
     */
    private boolean runOverFlash(FlashKeyFetcher tier, Batch batch, int command, CommandSpec spec, Client client,
            ReplyWriter reply, long mark) {
        // The keys of EXEC are the queued ones.
        Transaction executed = TransactionRunner.executed(spec, client);
        Batch named = executed == null ? batch : executed.batch();
        int first = executed == null ? batch.firstKey(command) : 0;
        int count = executed == null ? batch.keyCount(command) : named.keyTotal();
        if (!tier.settle(named, first, count)) {
            Refusal.reply(client, spec, reply, Errors.OUT_OF_MEMORY);
            return true;
        }
        try {
            runLocked(batch, command, spec, client, reply, mark);
        } catch (KeyNotResidentException missing) {
            reply.rollback(mark);
            if (!FlashKeyFetcher.mayFetch(named, first, count, executed == null ? 1 : executed.databases())) {
                // The keys are demoted as fast as they are fetched: memory cannot hold all of them at a time.
                context.discardOtherKeys();
                Refusal.reply(client, spec, reply, Errors.OUT_OF_MEMORY);
                return true;
            }
            parked = tier.hasRecordedKeys()
                    ? tier.fetchRecordedKeys(named)
                    : tier.fetch(named, first, isMissingInOtherDatabase ? context.keyInOtherDatabase() : null);
            return false;
        }
        return true;
    }

    private void runLocked(Batch batch, int command, CommandSpec spec, Client client, ReplyWriter reply, long mark) {
        KeyPrefetcher.rebind(session, batch, command, client.database());
        int attempt = 1;
        int tries = 1;
        long requestedBytes = 0;
        while (true) {
            context.begin(client, reply, spec, batch, command);
            try {
                runUnderLocks(batch, command, client, table.handler(spec));
                return;
            } catch (CacheFullException full) {
                reply.rollback(mark);
                requestedBytes = oomGuard.nextReservation(requestedBytes, full);
                if (!full.isRecoverable() || attempt++ == (requestedBytes == 0 ? MAX_ATTEMPTS_IN_VAIN : MAX_ATTEMPTS)
                        || !oomGuard.canRetry(batch, command, spec)
                        || !oomGuard.admitAgain(batch, command, client, requestedBytes, full.bytes())) {
                    Refusal.reply(client, spec, reply, Errors.OUT_OF_MEMORY);
                    return;
                }
            } catch (NoBufferException none) {
                if (spec.has(CommandFlag.WRITE) && (spec.otherKeys() == null || !context.changesNothing())
                        || context.mayHaveChanged()) {
                    // It may have changed something, so no error can be replied: the connection is closed.
                    throw none;
                }
                long needed = reply.copiedBytes() + none.bytes();
                reply.rollback(mark);
                oomGuard.pins().pin(batch, command, client);
                if (tries++ == MAX_REPLY_TRIES || !oomGuard.reserveForReply(none, needed)) {
                    Refusal.reply(client, spec, reply, Errors.of(none));
                    return;
                }
            } catch (Arguments.TextTooLongException tooLong) {
                reply.rollback(mark);
                reply.error("ERR " + tooLong.getMessage());
                return;
            } catch (KeyNotResidentException missing) {
                throw missing;
            } catch (LockWait.GivenUpException _) {
                // A script holds a shard for long, and this event loop has to serve others.
                context.takeParkedCommand();
                reply.rollback(mark);
                Refusal.reply(client, spec, reply, shardWaiters.busyError());
                return;
            } catch (RuntimeException bug) {
                LOG.error("Command {} failed", spec.fullName(), bug);
                reply.rollback(mark);
                Refusal.reply(client, spec, reply, "ERR internal error");
                return;
            }
        }
    }

    private void runUnderLocks(Batch batch, int command, Client client, Handler handler) {
        int keys = batch.keyCount(command);
        int first = batch.firstKey(command);
        isMissingInOtherDatabase = false;
        if (keys == 0 && !(context.spec().has(CommandTrait.RUNS_SCRIPT) && context.usesOtherKeys())) {
            runWithoutKeys(batch, command, handler);
        } else if (context.usesOtherKeys()) {
            runLocking(context.allShards(), batch, command, handler);
        } else if (keys == 1) {
            Key key = batch.key(first);
            if (context.spec().readsOptimistically() && runOptimistically(key, handler)) {
                return;
            }
            if (!session.tryLock(key)) {
                times.timeSeparately(batch, command, client, session.now());
                if (!shardWaiters.lock(context, key)) {
                    return;
                }
            }
            boolean needsMoreShards;
            try {
                boolean serves = mayServe();
                needsMoreShards = serves && !coversMoves(key.shard(), batch, first);
                if (!needsMoreShards) {
                    runInMemory(batch, command, handler, serves);
                }
            } finally {
                session.unlock(key);
            }
            if (needsMoreShards) {
                runLockingMany(batch, command, handler);
            }
        } else {
            runLockingMany(batch, command, handler);
        }
    }

    /** Whether the command may make keys of blocked clients ready. The shards of its keys are locked. */
    private boolean mayServe() {
        return mayWrite(context.spec()) && server.blockedKeys().isAnyWaiting() && !server.role().isReplica();
    }

    /** Whether blocked clients may move elements of its only key into no other shard than this. */
    private boolean coversMoves(int shard, Batch batch, int key) {
        shards.clear();
        shards.add(shard);
        return blockedClients.coversMoves(shards, batch, key, 1);
    }

    /**
     * Runs a read of one small item without a lock.
     *
     * @return false if it has to run under the lock: it has done nothing
     */
    private boolean runOptimistically(Key key, Handler handler) {
        if (tracker != null || keyFetcher != null || !session.beginOptimisticRead(key)
                || !session.confirmOptimisticRead()) {
            return false;
        }
        if (slots != null && !slots.isCurrent()) {
            // The key may be another member's by now.
            session.endOptimisticRead();
            return false;
        }
        try {
            handler.run(context);
            return true;
        } finally {
            session.endOptimisticRead();
        }
    }

    private void runWithoutKeys(Batch batch, int command, Handler handler) {
        if (keyFetcher == null && context.spec().has(CommandTrait.FLUSHES)) {
            flush(batch, command, handler);
        } else if (keyFetcher == null && context.spec().has(CommandTrait.LOCKS_ALL_SHARDS)
                || context.spec().has(CommandTrait.CHANGES_LIBRARIES)
                || context.spec().has(CommandTrait.AWAITS_COMMANDS)) {
            runLocking(context.allShards(), batch, command, handler);
        } else {
            handler.run(context);
        }
        if (context.spec().isWrite() && changes.isOn()) {
            // Flushes and swaps of databases, and changes of libraries.
            context.client().repliesAfter(changes.offset());
        }
    }

    /**
     * Flushes. The server may have been told since the command's check to hand over its role, or in a cluster to hold
     * its slots or to serve no more: it is checked again under the locks.
     */
    private void flush(Batch batch, int command, Handler handler) {
        boolean isTaken;
        do {
            server.cache().prepareFlushes(Transaction.flushesOf(context.spec(), server.cache()));
            try {
                runLocking(context.allShards(), batch, command, handler);
                isTaken = false;
            } catch (CacheFullException full) {
                // Another flush has taken what was prepared. This one has done nothing yet.
                isTaken = true;
            }
        } while (isTaken);
    }

    /** @param serves whether it may make keys of blocked clients ready */
    private void runInMemory(Batch batch, int command, Handler handler, boolean serves) {
        if (slots != null) {
            String refusal = slots.refusalUnderLocks(batch, command, context.spec(), context.client(), null);
            if (refusal != null) {
                context.reply().error(refusal);
                return;
            }
            if (slots.isHeld()) {
                context.retryAfter(slots.awaitRelease());
                return;
            }
        }
        if (changes.holdsWrites() && ScriptUse.mayWrite(batch, command)) {
            context.retryAfter(HeldWrites.await(server));
            return;
        }
        int first = batch.firstKey(command);
        int keys = batch.keyCount(command);
        if (keyFetcher != null) {
            if (keyFetcher.isAnyMissing(batch, first, keys)) {
                throw new KeyNotResidentException();
            }
            // A key that the handler itself finds missing is in another database.
            isMissingInOtherDatabase = true;
        }
        if (serves) {
            blockedClients.run(context, () -> context.run(handler));
        } else {
            context.run(handler);
        }
        if (tracker != null) {
            TrackedReads.remember(tracker, context.spec(), batch, first, keys);
        }
    }

    private void runLockingMany(Batch batch, int command, Handler handler) {
        int first = batch.firstKey(command);
        int keys = batch.keyCount(command);
        shards.clear();
        for (int i = first; i < first + keys; i++) {
            shards.add(batch.key(i).shard());
        }
        runLocking(shards, batch, command, handler);
    }

    /**
     * Locks the shards and runs the command. If blocked clients may move its elements into further shards, locks these
     * too: nothing has run until all of them are locked.
     */
    private void runLocking(ShardSet locked, Batch batch, int command, Handler handler) {
        int first = batch.firstKey(command);
        int keys = batch.keyCount(command);
        boolean needsMoreShards = true;
        while (needsMoreShards && shardWaiters.lock(context, locked)) {
            try {
                boolean serves = mayServe();
                needsMoreShards = serves && !blockedClients.coversMoves(locked, batch, first, keys);
                if (!needsMoreShards) {
                    context.lockedShards(locked);
                    runInMemory(batch, command, handler, serves);
                }
            } finally {
                context.lockedShards(null);
                session.unlock(locked);
            }
            if (needsMoreShards) {
                blockedClients.addMoves(locked);
            }
        }
    }
}
