package io.varve.server.following;

import java.io.IOException;
import java.util.concurrent.locks.ReentrantLock;

import io.varve.server.command.CommandTable;
import io.varve.server.command.ServerState;
import io.varve.server.command.batch.Batch;
import io.varve.server.command.batch.LastCommandLookup;
import io.varve.server.command.dispatch.DetachedClient;
import io.varve.server.persistence.ChangeStream;
import io.varve.server.replication.Replicas;
import io.varve.server.resp.CommandScanner;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the commands of a primary's stream, and then relays them to the log and the replicas of this server. Confined to
 * one thread.
 *
 * <p>A transaction runs as one if it is short, and this server knows its commands. The commands of another one run as
 * they arrive: to queue them would take memory in proportion to it, and an unknown one would abort it.
 */
final class StreamRunner implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(StreamRunner.class);
    /** The longest transaction that runs as one. */
    private static final long MAX_TRANSACTION_BYTES = 1 << 20;
    private static final int MAX_TRANSACTION_COMMANDS = 1000;
    /** Refused commands are logged once in so many. */
    private static final long LOGGED_INTERVAL = 100_000;
    private static final String OUT_OF_MEMORY = "OOM";

    private final ChangeStream changes;
    private final Replicas replicas;
    private final ReentrantLock relaying;
    private final DetachedClient runner;
    private final Batch batch = new Batch();
    private final CommandScanner scanner = new CommandScanner();
    private final LastCommandLookup commands;
    /** Whether the stream is within a transaction whose commands run one by one. */
    private boolean inLongTransaction;
    private boolean acknowledgementWanted;
    /** The address after the transaction that runs as one. */
    private long transactionEnd;
    /** Commands of the transaction that was looked at last. */
    private int transactionCommands;
    /** Whether this server has all of them: if not, queueing one of them would abort the transaction. */
    private boolean transactionIsKnown;
    private volatile long refused;
    private String fatal = "";

    StreamRunner(ServerState server, CommandTable table) {
        changes = server.changes();
        commands = new LastCommandLookup(table);
        replicas = server.replicas();
        relaying = replicas.relaying();
        runner = new DetachedClient(server, table, server.ticker(), this::failed);
        // A snapshot that was loaded at the start names it.
        runner.client().database(replicas.streamDatabase());
    }

    /** Begins a stream at a state of the data that was loaded. */
    void begin(int database) {
        resume();
        inLongTransaction = false;
        runner.client().database(database);
        replicas.streamDatabase(database);
    }

    /** Begins to read again at the offset up to which the stream was relayed. */
    void resume() {
        runner.client().endTransaction();
        transactionEnd = 0;
        batch.clear();
        fatal = "";
    }

    /** Whether the primary has asked how far this replica is; cleared by the call. */
    boolean takeAcknowledgementWanted() {
        boolean wanted = acknowledgementWanted;
        acknowledgementWanted = false;
        return wanted;
    }

    /** Whether a part of a transaction has run. */
    boolean isInTransaction() {
        return inLongTransaction;
    }

    /** Commands that could not be run. */
    long refused() {
        return refused;
    }

    /**
     * Runs all complete commands of a buffer.
     *
     * @throws IOException if there is something else, or a command failed after which the data is not the primary's
     */
    void run(StreamBuffer buffer) throws IOException {
        boolean more = true;
        while (more) {
            relaying.lock();
            try {
                more = runBatch(buffer);
            } finally {
                relaying.unlock();
            }
        }
    }

    /** @return false if there are no more complete commands */
    private boolean runBatch(StreamBuffer buffer) throws IOException {
        int database = runner.client().database();
        long start = buffer.address();
        long at = start;
        boolean more = true;
        while (!batch.isFull()) {
            long end = next(at, buffer.limit());
            if (end == CommandScanner.INCOMPLETE) {
                more = false;
                break;
            }
            if (isBoundary() || isUnknown()) {
                if (at == start) {
                    passBoundary(buffer, database, end);
                    return true;
                }
                // The commands before it run first.
                break;
            }
            if (scanner.isNamed("REPLCONF")) {
                acknowledgementWanted = true;
            } else {
                scanner.give(batch);
            }
            at = end;
        }
        runner.run(batch, this::check);
        if (transactionEnd > at) {
            // The rest of the transaction may be in the next batch, which is run without a pause.
            runRest(at);
            at = transactionEnd;
        }
        transactionEnd = 0;
        relay(buffer, database, at - start, true);
        replicas.streamDatabase(runner.client().database());
        return more;
    }

    private void relay(StreamBuffer buffer, int database, long length, boolean forLog) {
        if (length > 0) {
            changes.relay(database, buffer.address(), length, forLog);
            buffer.drop(length);
        }
    }

    private void runRest(long from) throws IOException {
        long at = from;
        while (at < transactionEnd) {
            while (at < transactionEnd && !batch.isFull()) {
                at = scanner.skip(at, transactionEnd);
                scanner.give(batch);
            }
            runner.run(batch, this::check);
        }
    }

    /** Passes one command; MULTI only if what follows is known. @return the address after it, or INCOMPLETE */
    private long next(long at, long limit) throws IOException {
        long end = scanner.skip(at, limit);
        if (end == CommandScanner.MALFORMED) {
            throw new IOException("the primary has sent something else than a command");
        }
        if (end == CommandScanner.INCOMPLETE || at < transactionEnd || inLongTransaction || !scanner.isNamed("MULTI")) {
            return end;
        }
        long whole = endOfTransaction(end, limit);
        if (whole == CommandScanner.INCOMPLETE && limit - at < MAX_TRANSACTION_BYTES) {
            return whole;
        }
        inLongTransaction = whole == CommandScanner.INCOMPLETE || whole - at > MAX_TRANSACTION_BYTES
                || transactionCommands > MAX_TRANSACTION_COMMANDS || !transactionIsKnown;
        transactionEnd = inLongTransaction ? 0 : whole;
        return scanner.skip(at, limit);
    }

    private long endOfTransaction(long from, long limit) throws IOException {
        long at = from;
        transactionCommands = 0;
        transactionIsKnown = true;
        do {
            at = scanner.skip(at, limit);
            if (at == CommandScanner.MALFORMED) {
                throw new IOException("the primary has sent something else than a command");
            }
            transactionCommands++;
            transactionIsKnown &= at < 0 || !isUnknown();
        } while (at != CommandScanner.INCOMPLETE && !scanner.isNamed("EXEC"));
        return at;
    }

    private boolean isBoundary() {
        return inLongTransaction && (scanner.isNamed("MULTI") || scanner.isNamed("EXEC"));
    }

    /** The log does not get it: a start would not understand it either. */
    private boolean isUnknown() {
        return commands.find(scanner.nameAddress(), scanner.nameLength()) == null;
    }

    private void passBoundary(StreamBuffer buffer, int database, long end) {
        if (isUnknown()) {
            failed("ERR unknown command '" + scanner.name() + "'");
        } else if (scanner.isNamed("EXEC")) {
            inLongTransaction = false;
        }
        relay(buffer, database, end - buffer.address(), false);
    }

    private void check() throws IOException {
        if (runner.client().closing() || runner.client().killed()) {
            throw new IOException("a command of the primary has ended its connection");
        }
        if (!fatal.isEmpty()) {
            throw new IOException("a command of the primary could not be run: " + fatal);
        }
    }

    private void failed(String error) {
        long before = refused;
        refused = before + 1;
        if (before % LOGGED_INTERVAL == 0) {
            LOG.warn("A command of the primary was refused, so the data differs from the primary's: {}; INFO"
                    + " replication counts all", error);
        }
        if (error.startsWith(OUT_OF_MEMORY) || error.startsWith("ERR internal error")
                || error.startsWith("ERR DB index")) {
            fatal = error;
        }
    }

    @Override
    public void close() {
        runner.close();
    }
}
