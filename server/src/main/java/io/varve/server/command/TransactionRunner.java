package io.varve.server.command;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;

import io.varve.memory.Cache;
import io.varve.memory.CacheSession;
import io.varve.memory.ShardSet;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Key;
import io.varve.memory.item.Ticker;
import io.varve.server.admin.LoopCounters;
import io.varve.server.resp.ReplyWriter;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * EXEC: runs what a client has queued, under the locks of all keys that are named in it or watched for it, so that nobody sees
 * a part of it. Confined to its event loop.
 *
 * <p>Each command goes through its own handler, which takes locks that are held already. Room is made for all of them before;
 * a command that finds none all the same is answered with the OOM error in its place, as nothing can be evicted while the locks are held.
 */
final class TransactionRunner {
    static final String ABORTED = "EXECABORT Transaction discarded because of previous errors.";
    private static final String ABORTED_BECAUSE = "EXECABORT Transaction discarded because of: ";
    private static final int SPARE_BATCHES = 4;
    private static final Logger LOG = LoggerFactory.getLogger(TransactionRunner.class);

    private final ServerContext server;
    private final Cache cache;
    private final CacheSession session;
    private final @Nullable Below below;
    private final Ticker ticker;
    private final LoopCounters counters;
    private final Invocation inner;
    private final ArrayDeque<Batch> spare = new ArrayDeque<>();
    private final ShardSet shards;
    private final Key watchedKey = new Key();

    TransactionRunner(ServerContext server, CacheSession session, @Nullable Below below, LoopCounters counters) {
        this.server = server;
        this.session = session;
        this.below = below;
        this.counters = counters;
        cache = server.cache();
        ticker = server.ticker();
        inner = new Invocation(cache, session, server, below, null);
        shards = new ShardSet(cache.shardCount());
    }

    /** The error for an EXEC that cannot be run: the transaction is over. */
    static String abortedBecause(String error) {
        return ABORTED_BECAUSE + (error.startsWith("ERR ") ? error.substring(4) : error);
    }

    /** A transaction with nothing queued in it, which the caller ends; null if the heap has no room for it. */
    @Nullable
    Transaction begin(int database) {
        if (!server.argumentMemory().take(Transaction.HEAP_BYTES)) {
            return null;
        }
        Batch batch = spare.poll();
        return new Transaction(this, batch == null ? new Batch() : batch, cache, server.argumentMemory(), database);
    }

    /** A transaction has ended. */
    void giveBack(Batch batch) {
        batch.clear();
        if (spare.size() < SPARE_BATCHES) {
            spare.push(batch);
        }
    }

    /**
     * Runs the transaction of the client, which is over then, and replies.
     *
     * @throws KeyBelowException if a key may be on flash: nothing has been run, and the transaction is still there
     */
    void run(Invocation exec, Transaction queued) {
        Client client = exec.client();
        ReplyWriter reply = exec.reply();
        if (queued.failed()) {
            client.endTransaction();
            reply.error(ABORTED);
            return;
        }
        if (queued.isDenyOom() && !cache.admit(queued.neededBytes())) {
            client.endTransaction();
            reply.error(abortedBecause(Dispatcher.OUT_OF_MEMORY));
            return;
        }
        Batch batch = queued.batch();
        if (batch.keyTotal() > 1 && server.config().touchAhead()) {
            session.touch(batch.keys(), batch.keyTotal());
        }
        gatherShards(queued, client.watch());
        session.lock(shards);
        try {
            if (client.watch().isBroken(session.now(), this::exists)) {
                reply.nilArray();
            } else {
                runCommands(exec, queued);
            }
        } finally {
            session.unlock(shards);
        }
        client.endTransaction();
    }

    private boolean exists(WatchedKeys.WatchedKey watched) {
        byte[] name = watched.name().getBytes(StandardCharsets.ISO_8859_1);
        session.bind(watchedKey, watched.database(), inner.scratch(name), name.length);
        return session.peek(watchedKey, inner.item());
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

    private void runCommands(Invocation exec, Transaction queued) {
        Batch batch = queued.batch();
        if (below != null && below.isAnyMissing(batch, 0, batch.keyTotal())) {
            throw new KeyBelowException();
        }
        Client client = exec.client();
        ReplyWriter reply = exec.reply();
        // From here on a reply that finds no buffer cannot be taken back and tried again.
        exec.mayHaveChanged(queued.writes());
        reply.array(batch.commandCount());
        for (int i = 0; i < batch.commandCount(); i++) {
            CommandSpec spec = java.util.Objects.requireNonNull(batch.spec(i));
            long errors = reply.errors();
            long start = ticker.nanoTime();
            runCommand(client, reply, batch, i, spec);
            counters.ran(spec.id(), 1, ticker.nanoTime() - start, server.config().latencyTracking());
            if (reply.errors() != errors) {
                counters.failed(spec.id());
                server.errors().add(reply.lastError());
                exec.errorsToldOf(reply.errors() - errors);
            }
        }
        counters.add(LoopCounters.Total.COMMANDS, batch.commandCount());
    }

    private void runCommand(Client client, ReplyWriter reply, Batch batch, int command, CommandSpec spec) {
        rebind(client, batch, command);
        long mark = reply.mark();
        inner.begin(client, reply, spec, batch, command);
        try {
            java.util.Objects.requireNonNull(spec.handler()).run(inner);
            if (inner.takeSuspension() != null) {
                throw new IllegalStateException(spec.fullName() + " answers later, and is not told as such");
            }
        } catch (CacheFullException full) {
            reply.rollback(mark);
            reply.error(Dispatcher.OUT_OF_MEMORY);
        } catch (Arguments.TextTooLongException tooLong) {
            reply.rollback(mark);
            reply.error("ERR " + tooLong.getMessage());
        } catch (KeyBelowException elsewhere) {
            // Only what names a key in another database looks for one that was not fetched before. It has done nothing yet.
            reply.rollback(mark);
            reply.error("ERR the key may be on flash in the other database: not in a transaction");
        } catch (io.varve.server.resp.NoBufferException none) {
            throw none;
        } catch (RuntimeException bug) {
            LOG.error("The command {} failed in a transaction", spec.fullName(), bug);
            reply.rollback(mark);
            reply.error("ERR internal error");
        }
    }

    /** A SELECT that failed left the commands behind it in another database than was thought when they were queued. */
    private void rebind(Client client, Batch batch, int command) {
        int first = batch.firstKey(command);
        int keys = batch.keyCount(command);
        if (keys > 0 && batch.key(first).database() != client.database()) {
            for (int i = first; i < first + keys; i++) {
                Key key = batch.key(i);
                session.bind(key, client.database(), key.address(), key.length());
            }
        }
    }
}
