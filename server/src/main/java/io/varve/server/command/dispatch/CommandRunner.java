package io.varve.server.command.dispatch;

import io.varve.memory.CacheSession;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Key;
import io.varve.memory.shard.ShardSet;
import io.varve.server.blocking.BlockedClient;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.Errors;
import io.varve.server.command.Handler;
import io.varve.server.command.ServerState;
import io.varve.server.command.batch.Batch;
import io.varve.server.command.batch.KeyPrefetcher;
import io.varve.server.command.blocking.Blocking;
import io.varve.server.command.blocking.KeyReservations;
import io.varve.server.command.flash.FlashKeyFetcher;
import io.varve.server.command.flash.KeyNotResidentException;
import io.varve.server.command.session.Client;
import io.varve.server.command.session.ParkedCommand;
import io.varve.server.command.session.Transaction;
import io.varve.server.command.spec.Arguments;
import io.varve.server.command.spec.CommandFlag;
import io.varve.server.command.spec.CommandSpec;
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
    private static final int MAX_ATTEMPTS_IN_VAIN = 3;
    /** Enough to double up to the largest reply, plus a few retries because other threads took the freed memory. */
    static final int MAX_REPLY_TRIES = 24;

    private final ServerState server;
    private final CommandTable table;
    private final CacheSession session;
    private final CommandContext context;
    private final @Nullable FlashKeyFetcher keyFetcher;
    private final ShardWaiters shardWaiters;
    private final CommandTimes times;
    private final OomGuard oomGuard;
    private final ShardSet shards;
    /** The wait of the client after its last command; null if it does not wait. */
    private @Nullable ParkedCommand parked;
    /** The client's tracking state for the command; null if it does not track. */
    private @Nullable Tracker tracker;
    private boolean isMissingInOtherDatabase;

    CommandRunner(ServerState server, CommandTable table, CommandContext context,
            @Nullable FlashKeyFetcher keyFetcher, ShardWaiters shardWaiters, CommandTimes times, OomGuard oomGuard) {
        this.server = server;
        this.table = table;
        this.context = context;
        this.keyFetcher = keyFetcher;
        this.shardWaiters = shardWaiters;
        this.times = times;
        this.oomGuard = oomGuard;
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
            return Outcome.COMPLETED;
        }
        parked = wait;
        if (client.waitState().blockedClient() != null) {
            // It has checked its keys: its next wake-up may fetch keys as often as any command.
            batch.flashLookups().endCommand();
        }
        return wait.replies() ? Outcome.PARKED : Outcome.RETRY;
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
            return !waitForMemory(batch, spec, client, reply);
        }
        try {
            runLocked(batch, command, spec, client, reply, mark);
        } catch (KeyNotResidentException missing) {
            reply.rollback(mark);
            if (!FlashKeyFetcher.mayFetch(named, first, count, executed == null ? 1 : executed.databases())) {
                // The keys are demoted as fast as they are fetched: memory cannot hold all of them at a time.
                context.discardOtherKeys();
                return !waitForMemory(batch, spec, client, reply);
            }
            parked = tier.hasRecordedKeys()
                    ? tier.fetchRecordedKeys(named)
                    : tier.fetch(named, first, isMissingInOtherDatabase ? context.keyInOtherDatabase() : null);
            return false;
        }
        return true;
    }

    /**
     * Refuses a command whose keys do not fit in memory, or parks it if it is a blocked client's.
     *
     * @return whether it waits
     */
    private boolean waitForMemory(Batch batch, CommandSpec spec, Client client, ReplyWriter reply) {
        BlockedClient blocked = client.waitState().blockedClient();
        if (blocked == null) {
            Refusal.reply(client, spec, reply, Errors.OUT_OF_MEMORY);
            return false;
        }
        batch.flashLookups().endCommand();
        parked = Blocking.defer(server, blocked);
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
        if (keys == 0) {
            runWithoutKeys(handler);
        } else if (context.usesOtherKeys()) {
            runLocking(context.allShards(), batch, command, handler);
        } else if (keys == 1) {
            Key key = batch.key(first);
            if (context.spec().readsSnapshot() && runOnSnapshot(key, handler)) {
                return;
            }
            if (!session.tryLock(key)) {
                times.timeSeparately(batch, command, client, session.now());
                if (!shardWaiters.lock(context, key)) {
                    return;
                }
            }
            try {
                runInMemory(batch, command, handler);
            } finally {
                session.unlock(key);
            }
        } else {
            runLockingMany(batch, command, handler);
        }
    }

    /**
     * Runs a read of one small item without a lock.
     *
     * @return false if it has to run under the lock: it has done nothing
     */
    private boolean runOnSnapshot(Key key, Handler handler) {
        if (tracker != null || keyFetcher != null || !session.openSnapshot(key)) {
            return false;
        }
        // ORDER: the flag is read between copy and confirmation. So no key was reserved while the copy was the item.
        boolean isDelayed = server.blockedKeys().isAnyDelayed();
        if (!session.confirmSnapshot()) {
            return false;
        }
        try {
            if (!isDelayed) {
                handler.run(context);
            }
            return !isDelayed;
        } finally {
            session.closeSnapshot();
        }
    }

    private void runWithoutKeys(Handler handler) {
        if (!KeyReservations.delay(context)) {
            try {
                handler.run(context);
            } finally {
                KeyReservations.end(context);
            }
        }
    }

    private void runInMemory(Batch batch, int command, Handler handler) {
        // A blocked client ignores other reservations: it takes only from keys it was woken for.
        if (context.client().waitState().blockedClient() == null
                && KeyReservations.delay(context, batch, command, command + 1)) {
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
        handler.run(context);
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

    private void runLocking(ShardSet locked, Batch batch, int command, Handler handler) {
        if (!shardWaiters.lock(context, locked)) {
            return;
        }
        try {
            runInMemory(batch, command, handler);
        } finally {
            session.unlock(locked);
        }
    }
}
