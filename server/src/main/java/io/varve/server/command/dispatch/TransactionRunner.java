package io.varve.server.command.dispatch;

import io.varve.memory.Cache;
import io.varve.memory.CacheSession;
import io.varve.memory.ShardSet;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Ticker;
import io.varve.server.admin.LoopCounters;
import io.varve.server.command.Arguments;
import io.varve.server.command.Batch;
import io.varve.server.command.BatchPreparation;
import io.varve.server.command.Below;
import io.varve.server.command.Client;
import io.varve.server.command.CommandSpec;
import io.varve.server.command.Errors;
import io.varve.server.command.Invocation;
import io.varve.server.command.KeyBelowException;
import io.varve.server.command.Promises;
import io.varve.server.command.ServerContext;
import io.varve.server.command.Transaction;
import io.varve.server.command.TransactionMemory;
import io.varve.server.command.Transactions;
import io.varve.server.command.Watch;
import io.varve.server.resp.NoBufferException;
import io.varve.server.resp.ReplyWriter;
import io.varve.server.tracking.Tracker;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * EXEC: runs what a client has queued, under the locks of all keys that are named in it or watched for it, so that nobody sees
 * a part of it. Confined to its event loop.
 *
 * <p>Each command goes through its own handler; one that takes locks finds that they are held already. Room is made for all of them
 * before. If a command finds none all the same and nothing has been changed, the locks are let go of, room is made, and all are run
 * again; later ones are answered with the OOM error in their place, as nothing can be evicted while the locks are held. Each command
 * counts once, whatever the attempts ({@link TransactionCounts}).
 */
final class TransactionRunner implements Transactions {
    static final String ABORTED = "EXECABORT Transaction discarded because of previous errors.";
    private static final String ABORTED_BECAUSE = "EXECABORT Transaction discarded because of: ";
    private static final Logger LOG = LoggerFactory.getLogger(TransactionRunner.class);

    private final ServerContext server;
    private final Cache cache;
    private final CacheSession session;
    private final @Nullable Below below;
    private final Ticker ticker;
    private final LoopCounters counters;
    private final TransactionCounts counts;
    private final MonitorFeed monitors;
    private final CommandRoom room;
    private final Invocation inner;
    private final TransactionMemory memory;
    private final ShardSet shards;
    private final HeldShards held;

    TransactionRunner(ServerContext server, CacheSession session, @Nullable Below below, LoopCounters counters,
            CommandTimes times, MonitorFeed monitors, CommandRoom room, HeldShards held) {
        this.monitors = monitors;
        this.held = held;
        this.room = room;
        this.server = server;
        this.session = session;
        this.below = below;
        this.counters = counters;
        cache = server.cache();
        ticker = server.ticker();
        inner = new Invocation(cache, session, server, below, null, counters);
        shards = new ShardSet(cache.shardCount());
        counts = new TransactionCounts(server, session, times, cache.shardCount());
        memory = new TransactionMemory(cache, server.argumentMemory());
    }

    /** The transaction that the command runs; null if it is not EXEC. */
    static @Nullable Transaction executed(CommandSpec spec, Client client) {
        return spec.runsAtOnce() && spec.fullName().equals("exec") ? client.transaction() : null;
    }

    /** The error for an EXEC that cannot be run: the transaction is over. */
    static String abortedBecause(String error) {
        return ABORTED_BECAUSE + (error.startsWith("ERR ") ? error.substring(4) : error);
    }

    @Override
    public @Nullable Transaction begin(int database) {
        return memory.begin(database);
    }

    /** The event loop has ended, and with it all transactions. */
    void close() {
        memory.close();
    }

    @Override
    public void run(Invocation exec, Transaction queued) {
        Client client = exec.client();
        ReplyWriter reply = exec.reply();
        if (queued.failed()) {
            client.endTransaction();
            reply.error(ABORTED);
            return;
        }
        exec.mayHaveChanged(!queued.isRepeatable());
        long refused = 0;
        for (int attempt = 1;; attempt++) {
            // A transaction of reads needs room too once one of them was refused: for a copy, or for results.
            if ((queued.writes() || refused > 0) && !room.admit(queued, client, refused) && queued.isDenyOom()) {
                client.endTransaction();
                reply.error(abortedBecause(Errors.OUT_OF_MEMORY));
                return;
            }
            long mark = reply.mark();
            try {
                if (runLocked(exec, queued, attempt == Dispatcher.MAX_ATTEMPTS)) {
                    client.endTransaction();
                }
                return;
            } catch (CacheFullException full) {
                // Nothing has been changed, and without the locks more room can be made.
                reply.rollback(mark);
                refused = room.toAskFor(refused, full);
            }
        }
    }

    /** @return false if it is to run again later */
    private boolean runLocked(Invocation exec, Transaction queued, boolean isLast) {
        Client client = exec.client();
        Batch batch = queued.batch();
        if (batch.keyTotal() > 1 && server.config().touchAhead()) {
            session.touch(batch.keys(), batch.keyTotal());
        }
        if (queued.flushes() > 0) {
            cache.prepareFlushes(queued.flushes());
        }
        gatherShards(queued, client.watch());
        if (!held.lock(exec, shards)) {
            return false;
        }
        try {
            if (queued.namesNoKey()
                    ? Promises.holdUpTransaction(exec)
                    : Promises.holdUp(exec, batch, 0, batch.commandCount())) {
                return false;
            }
            if (client.watch().isBroken(session.now())) {
                exec.reply().nilArray();
            } else {
                runAsOne(exec, queued, isLast);
            }
            return true;
        } finally {
            session.unlock(shards);
        }
    }

    /** Who waits for keys sees what all commands have changed as one. */
    private void runAsOne(Invocation exec, Transaction queued, boolean isLast) {
        boolean waitedFor = server.blockedKeys().beginCause();
        try {
            runCommands(exec, queued, isLast);
        } finally {
            if (waitedFor) {
                server.blockedKeys().endCause();
            }
        }
    }

    private void gatherShards(Transaction queued, Watch watch) {
        shards.clear();
        if (queued.namesNoKey()) {
            // A command that takes locks on its own, in ascending order, must find that it has them all.
            for (int i = 0; i < cache.shardCount(); i++) {
                shards.add(i);
            }
            return;
        }
        Batch batch = queued.batch();
        for (int i = 0; i < batch.keyTotal(); i++) {
            shards.add(batch.key(i).shard());
        }
        watch.addShardsTo(shards);
    }

    private void runCommands(Invocation exec, Transaction queued, boolean isLast) {
        Batch batch = queued.batch();
        if (below != null && (below.isAnyMissing(batch, 0, batch.keyTotal()) || below.noteIfAnyMissing(queued))) {
            throw new KeyBelowException();
        }
        int database = exec.client().database();
        counts.begin(batch.commandCount(), shards);
        long changes = counters.changes();
        try {
            runCounted(exec, queued, isLast);
        } catch (CacheFullException | NoBufferException none) {
            if (!counts.isSettled()) {
                exec.client().database(database);
                counts.takeBack(shards);
                counters.takeBackChanges(changes);
            }
            throw none;
        } finally {
            counts.end();
        }
    }

    private void runCounted(Invocation exec, Transaction queued, boolean isLast) {
        Batch batch = queued.batch();
        Client client = exec.client();
        ReplyWriter reply = exec.reply();
        long start = reply.mark();
        reply.array(batch.commandCount());
        NoBufferException lost = null;
        int epoch = server.counterEpoch();
        int uncounted = 0;
        for (int i = 0; i < batch.commandCount(); i++) {
            CommandSpec spec = java.util.Objects.requireNonNull(batch.spec(i));
            boolean isRepeatable = Transaction.isRepeatable(spec);
            if (!isRepeatable && batch.keyCount(i) == 0 && !spec.isWrite()) {
                // It may tell what has been counted (INFO), and needs no room.
                counts.settle(batch, client);
            }
            boolean mayRunAgain = !counts.isSettled() && !isLast && room.mayRunAgain(batch, i, spec);
            NoBufferException none = runAndCount(exec, queued, i, spec, mayRunAgain);
            if (epoch != server.counterEpoch()) {
                // As if CONFIG RESETSTAT were the first command.
                epoch = server.counterEpoch();
                uncounted = i;
            }
            if (none != null && queued.isRepeatable()) {
                throw none;
            }
            lost = none == null ? lost : none;
            if (lost != null) {
                // Its client will not be told, but no part of it is left out.
                reply.rollback(start);
            }
            if (!isRepeatable) {
                counts.settle(batch, client);
            }
        }
        counts.settle(batch, client);
        counters.add(LoopCounters.Total.COMMANDS, batch.commandCount() - uncounted);
        if (lost != null) {
            throw lost;
        }
    }

    /** @return what there was no buffer for; null if all has been replied */
    private @Nullable NoBufferException runAndCount(Invocation exec, Transaction queued, int command, CommandSpec spec,
            boolean mayRunAgain) {
        Batch batch = queued.batch();
        ReplyWriter reply = exec.reply();
        long errors = reply.errors();
        // A SELECT that was refused left the commands behind it in another database than was thought when they were queued.
        BatchPreparation.rebind(session, batch, command, exec.client().database());
        String refusal = exec.client().user().isUnrestricted()
                ? null
                : server.accessGuard().refusalInTransaction(exec.client(), batch, command, spec,
                        command >= queued.told());
        String toTell = refusal == null && monitors.isAny() && command >= queued.told()
                ? monitors.describe(batch, command, spec)
                : null;
        long begun = ticker.nanoTime();
        NoBufferException none = null;
        try {
            if (refusal == null) {
                none = runCommand(exec.client(), reply, batch, command, spec, mayRunAgain);
            } else {
                reply.error(refusal);
            }
        } catch (NoBufferException noError) {
            // There was none for an error either.
            none = noError;
        } finally {
            // They are its own, not EXEC's, be they taken back.
            exec.errorsToldOf(reply.errors() - errors);
        }
        // After CONFIG RESETSTAT, which counts itself.
        counters.enter(server.counterEpoch());
        counts.ran(batch, exec.client(), ticker.nanoTime() - begun,
                reply.errors() == errors ? null : reply.lastError());
        queued.told(command + 1);
        if (toTell != null) {
            monitors.tell(toTell, exec.client());
        }
        return none;
    }

    private @Nullable NoBufferException runCommand(Client client, ReplyWriter reply, Batch batch, int command,
            CommandSpec spec, boolean mayRunAgain) {
        long mark = reply.mark();
        inner.begin(client, reply, spec, batch, command);
        try {
            java.util.Objects.requireNonNull(spec.handler()).run(inner);
            if (inner.takeSuspension() != null) {
                throw new IllegalStateException(spec.fullName() + " answers later, and is not told as such");
            }
            Tracker tracker = client.tracker();
            if (tracker != null) {
                TrackedReads.remember(tracker, spec, batch, batch.firstKey(command), batch.keyCount(command));
            }
        } catch (CacheFullException full) {
            // It may have taken the memory of an argument over since it was asked.
            if (mayRunAgain && full.roomHelps() && room.mayRunAgain(batch, command, spec)) {
                throw full;
            }
            reply.rollback(mark);
            reply.error(Errors.OUT_OF_MEMORY);
        } catch (Arguments.TextTooLongException tooLong) {
            reply.rollback(mark);
            reply.error("ERR " + tooLong.getMessage());
        } catch (KeyBelowException elsewhere) {
            // Only what looks for keys in another database, or that it does not name, meets one that was not fetched before. It has done
            // nothing yet.
            reply.rollback(mark);
            inner.dropOtherKeys();
            reply.error(spec.otherKeys() == null
                    ? "ERR the key may be on flash in the other database: not in a transaction"
                    : "ERR a key that BY or GET leads to may be on flash: not in a transaction");
        } catch (NoBufferException none) {
            return none;
        } catch (RuntimeException bug) {
            LOG.error("The command {} failed in a transaction", spec.fullName(), bug);
            reply.rollback(mark);
            reply.error("ERR internal error");
        }
        return null;
    }
}
