package io.varve.server.command.dispatch;

import io.varve.memory.Cache;
import io.varve.memory.CacheSession;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.LockWait;
import io.varve.memory.item.Ticker;
import io.varve.memory.shard.ShardSet;
import io.varve.server.admin.LoopCounters;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.Errors;
import io.varve.server.command.Scripts;
import io.varve.server.command.ServerState;
import io.varve.server.command.Transactions;
import io.varve.server.command.batch.Batch;
import io.varve.server.command.batch.KeyPrefetcher;
import io.varve.server.command.batch.ScriptUse;
import io.varve.server.command.blocking.BlockedClientServer;
import io.varve.server.command.flash.FlashKeyFetcher;
import io.varve.server.command.flash.KeyNotResidentException;
import io.varve.server.command.redirect.SlotCheck;
import io.varve.server.command.session.Client;
import io.varve.server.command.session.Transaction;
import io.varve.server.command.session.TransactionMemory;
import io.varve.server.command.session.Watch;
import io.varve.server.command.spec.Arguments;
import io.varve.server.command.spec.CommandSpec;
import io.varve.server.command.spec.CommandTrait;
import io.varve.server.persistence.ChangeRecorder;
import io.varve.server.resp.NoBufferException;
import io.varve.server.resp.ReplyWriter;
import io.varve.server.tracking.Tracker;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * EXEC: runs a client's queued commands under the locks of all keys that they name or that the client watches, so that
 * no other client sees an intermediate state. Confined to its event loop.
 *
 * <p>Each command goes through its own handler; a handler that takes locks finds them held already. Memory for all
 * commands is freed first. If a command still runs out of memory and nothing has changed, the runner unlocks the
 * shards, frees memory and runs all commands again. Later failures get the OOM error in their place, because nothing
 * can be evicted under the locks. Each command counts once, whatever the number of attempts
 * ({@link TransactionCounts}).
 */
final class TransactionRunner implements Transactions {
    static final String ABORTED = "EXECABORT Transaction discarded because of previous errors.";
    private static final String ABORTED_BECAUSE = "EXECABORT Transaction discarded because of: ";
    private static final String NOT_IN_TRANSACTION = "ERR not allowed in a transaction: ";
    private static final Logger LOG = LoggerFactory.getLogger(TransactionRunner.class);

    private final ServerState server;
    private final CommandTable table;
    private final Cache cache;
    private final CacheSession session;
    private final @Nullable FlashKeyFetcher keyFetcher;
    private final Ticker ticker;
    private final LoopCounters counters;
    private final TransactionCounts counts;
    private final MonitorFeed monitors;
    private final OomGuard oomGuard;
    private final CommandContext inner;
    private final TransactionMemory memory;
    private final ShardSet shards;
    private final ShardWaiters shardWaiters;
    private final BlockedClientServer blockedClients;
    private final ChangeRecorder recorder;
    /** Null if the server is no member of a cluster. */
    private final @Nullable SlotCheck slots;

    TransactionRunner(ServerState server, CommandTable table, CacheSession session,
            @Nullable FlashKeyFetcher keyFetcher, LoopCounters counters, CommandTimes times, MonitorFeed monitors,
            OomGuard oomGuard, ShardWaiters shardWaiters, BlockedClientServer blockedClients,
            ChangeRecorder recorder, @Nullable SlotCheck slots) {
        this.slots = slots;
        this.recorder = recorder;
        this.monitors = monitors;
        this.shardWaiters = shardWaiters;
        this.blockedClients = blockedClients;
        this.oomGuard = oomGuard;
        this.server = server;
        this.table = table;
        this.session = session;
        this.keyFetcher = keyFetcher;
        this.counters = counters;
        cache = server.cache();
        ticker = server.ticker();
        inner = new CommandContext(cache, session, server, keyFetcher, null, counters, recorder);
        shards = new ShardSet(cache.shardCount());
        counts = new TransactionCounts(server, session, times, cache.shardCount());
        memory = new TransactionMemory(cache, server.argumentMemory());
    }

    /** Sets what runs the scripts of transactions; once. */
    void scripts(Scripts scripts) {
        inner.scripts(scripts);
    }

    /** The transaction that the command runs; null if it is not EXEC. */
    static @Nullable Transaction executed(CommandSpec spec, Client client) {
        return spec.has(CommandTrait.RUNS_IN_MULTI) && spec.fullName().equals("exec") ? client.transaction() : null;
    }

    /** The error for an EXEC that cannot be run: the transaction is over. */
    static String abortedBecause(String error) {
        return ABORTED_BECAUSE + (error.startsWith("ERR ") ? error.substring(4) : error);
    }

    @Override
    public @Nullable Transaction begin(int database) {
        return memory.begin(database);
    }

    /** Releases pooled memory after the event loop and all its transactions have ended. */
    void close() {
        memory.close();
    }

    @Override
    public void run(CommandContext exec, Transaction queued) {
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
            // A transaction of reads needs memory too once one of them was refused: for a copy, or for results.
            if ((queued.mayWrite() || refused > 0) && !oomGuard.admit(queued, client, refused) && queued.isDenyOom()) {
                client.endTransaction();
                reply.error(abortedBecause(Errors.OUT_OF_MEMORY));
                return;
            }
            long mark = reply.mark();
            try {
                if (runLocked(exec, queued, attempt == CommandRunner.MAX_ATTEMPTS)) {
                    client.endTransaction();
                }
                return;
            } catch (CacheFullException full) {
                // Nothing has been changed, and without the locks more memory can be freed.
                reply.rollback(mark);
                refused = oomGuard.nextReservation(refused, full);
            }
        }
    }

    /** @return false if it is to run again later */
    private boolean runLocked(CommandContext exec, Transaction queued, boolean isLast) {
        Client client = exec.client();
        Batch batch = queued.batch();
        if (batch.keyTotal() > 1 && server.config().touchAhead()) {
            session.touch(batch.keys(), batch.keyTotal());
        }
        if (queued.flushes() > 0) {
            cache.prepareFlushes(queued.flushes());
        }
        gatherShards(queued, client.watch());
        while (shardWaiters.lock(exec, shards)) {
            try {
                boolean serves = queued.mayWrite() && server.blockedKeys().isAnyWaiting()
                        && !server.role().isReplica();
                if (!serves || blockedClients.coversMoves(shards, batch, 0, batch.keyTotal())) {
                    return runUnderLocks(exec, queued, isLast, serves);
                }
            } finally {
                session.unlock(shards);
            }
            blockedClients.addMoves(shards);
        }
        return false;
    }

    /**
     * @param serves whether it may make keys of blocked clients ready, which see all its changes at once
     * @return false if it is to run again later
     */
    private boolean runUnderLocks(CommandContext exec, Transaction queued, boolean isLast, boolean serves) {
        String refusal = slots == null
                ? null
                : slots.refusalUnderLocks(queued.batch(), 0, exec.spec(), exec.client(), queued);
        if (refusal != null) {
            exec.reply().error(refusal);
        } else if (slots != null && slots.isHeld()) {
            exec.retryAfter(slots.awaitRelease());
            return false;
        } else if (queued.mayWrite() && server.changes().holdsWrites() && ScriptUse.mayWrite(queued.batch())) {
            exec.retryAfter(HeldWrites.await(server));
            return false;
        } else if (exec.client().watch().isBroken(session.now())) {
            exec.reply().nilArray();
        } else if (serves) {
            blockedClients.run(exec, () -> runCommands(exec, queued, isLast));
        } else {
            runCommands(exec, queued, isLast);
        }
        return true;
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

    private void runCommands(CommandContext exec, Transaction queued, boolean isLast) {
        Batch batch = queued.batch();
        if (keyFetcher != null
                && (keyFetcher.isAnyMissing(batch, 0, batch.keyTotal()) || keyFetcher.deferIfAnyOnFlash(queued))) {
            throw new KeyNotResidentException();
        }
        int database = exec.client().database();
        counts.begin(batch.commandCount(), shards);
        long changes = counters.changes();
        recorder.beginTransaction();
        try {
            runCounted(exec, queued, isLast);
        } catch (CacheFullException | NoBufferException none) {
            if (!counts.isSettled()) {
                exec.client().database(database);
                counts.rollback(shards);
                counters.restoreChanges(changes);
            }
            throw none;
        } finally {
            exec.server().recorded(exec.client(), recorder.endTransaction());
            counts.end();
        }
    }

    private void runCounted(CommandContext exec, Transaction queued, boolean isLast) {
        Batch batch = queued.batch();
        Client client = exec.client();
        ReplyWriter reply = exec.reply();
        long start = reply.mark();
        reply.array(batch.commandCount());
        NoBufferException lost = null;
        int epoch = server.telemetry().counterEpoch();
        int uncounted = 0;
        for (int i = 0; i < batch.commandCount(); i++) {
            CommandSpec spec = java.util.Objects.requireNonNull(batch.spec(i));
            boolean isRepeatable = Transaction.isRepeatable(spec);
            if (!isRepeatable && batch.keyCount(i) == 0 && !spec.isWrite()) {
                // It may report counters (INFO), and needs no memory.
                counts.settle(batch, client);
            }
            boolean canRetry = !counts.isSettled() && !isLast && oomGuard.canRetry(batch, i, spec);
            NoBufferException none = runAndCount(exec, queued, i, spec, canRetry);
            if (epoch != server.telemetry().counterEpoch()) {
                // As if CONFIG RESETSTAT were the first command.
                epoch = server.telemetry().counterEpoch();
                uncounted = i;
            }
            if (none != null && queued.isRepeatable()) {
                throw none;
            }
            lost = none == null ? lost : none;
            if (lost != null) {
                // The client gets no replies, but all remaining commands run.
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

    /** @return the failed buffer allocation; null if everything has been replied */
    private @Nullable NoBufferException runAndCount(CommandContext exec, Transaction queued, int command,
            CommandSpec spec,
            boolean canRetry) {
        Batch batch = queued.batch();
        ReplyWriter reply = exec.reply();
        long errors = reply.errors();
        // A denied SELECT leaves the following commands in another database than expected when they were queued.
        KeyPrefetcher.rebind(session, batch, command, exec.client().database());
        String refusal = exec.client().user().isUnrestricted()
                ? null
                : server.accessGuard().refusalInTransaction(exec.client(), batch, command, spec,
                        command >= queued.reportedCommands());
        String monitorLine = refusal == null && monitors.isAny() && command >= queued.reportedCommands()
                ? monitors.describe(batch, command, spec)
                : null;
        long begun = ticker.nanoTime();
        NoBufferException none = null;
        try {
            if (refusal == null) {
                none = runCommand(exec.client(), reply, batch, command, spec, canRetry);
            } else {
                reply.error(refusal);
            }
        } catch (NoBufferException noError) {
            // There was no buffer for an error either.
            none = noError;
        } finally {
            // The errors belong to the command, not to EXEC, even if they are rolled back.
            exec.countErrors(reply.errors() - errors);
        }
        // After CONFIG RESETSTAT, which counts itself.
        counters.enter(server.telemetry().counterEpoch());
        long counted = errors + inner.drainCountedErrors();
        counts.ran(batch, exec.client(), ticker.nanoTime() - begun, reply.errors() != errors,
                reply.errors() == counted ? null : reply.lastError());
        queued.reportedCommands(command + 1);
        if (monitorLine != null) {
            monitors.publish(monitorLine, exec.client());
        }
        return none;
    }

    private @Nullable NoBufferException runCommand(Client client, ReplyWriter reply, Batch batch, int command,
            CommandSpec spec, boolean canRetry) {
        long mark = reply.mark();
        inner.begin(client, reply, spec, batch, command);
        try {
            inner.run(table.handler(spec));
            if (inner.takeParkedCommand() != null) {
                throw new IllegalStateException(spec.fullName() + " defers its reply without being declared so");
            }
            Tracker tracker = client.tracker();
            if (tracker != null) {
                TrackedReads.remember(tracker, spec, batch, batch.firstKey(command), batch.keyCount(command));
            }
        } catch (CacheFullException full) {
            // It may have taken over the memory of an argument since the last check.
            if (canRetry && full.isRecoverable() && oomGuard.canRetry(batch, command, spec)) {
                throw full;
            }
            reply.rollback(mark);
            reply.error(Errors.OUT_OF_MEMORY);
        } catch (Arguments.TextTooLongException tooLong) {
            reply.rollback(mark);
            reply.error("ERR " + tooLong.getMessage());
        } catch (KeyNotResidentException notResident) {
            // Only a command that uses keys of another database, or keys it does not name, meets a key that was not
            // fetched before. It has changed nothing yet.
            reply.rollback(mark);
            inner.discardOtherKeys();
            reply.error(NOT_IN_TRANSACTION + unfetchedKey(spec));
        } catch (NoBufferException none) {
            return none;
        } catch (LockWait.GivenUpException _) {
            reply.rollback(mark);
            reply.error(shardWaiters.busyError());
        } catch (RuntimeException bug) {
            LOG.error("Command {} failed in a transaction", spec.fullName(), bug);
            reply.rollback(mark);
            reply.error("ERR internal error");
        }
        return null;
    }

    private static String unfetchedKey(CommandSpec spec) {
        return spec.otherKeys() == null
                ? "the key may be on flash in the other database"
                : "a key selected by BY or GET may be on flash";
    }
}
