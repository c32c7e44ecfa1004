package io.varve.server.recovery;

import java.io.IOException;
import java.nio.file.Path;

import io.varve.memory.item.Ticker;
import io.varve.server.command.CommandTable;
import io.varve.server.command.ServerState;
import io.varve.server.command.batch.Batch;
import io.varve.server.command.blocking.DeferredFlashReplies;
import io.varve.server.command.dispatch.DetachedClient;
import io.varve.server.command.persistence.LoadMemory;
import io.varve.server.command.session.Client;
import io.varve.server.persistence.LogException;
import io.varve.server.persistence.LogReader;
import io.varve.server.persistence.ReplayClock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs commands of a log again, as a client would, at the times at which they ran: all of them, or those whose keys are
 * in some of the shards. Confined to one thread, as an event loop is, except {@link #offset}, {@link #timeMillis} and
 * {@link #stop}.
 *
 * <p>It runs the commands of a transaction one by one: see {@link CommandSplit}. Over flash, some of its keys may have
 * to be fetched that were in memory when it ran.
 */
final class ReplayPart implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ReplayPart.class);
    /** The time before the first one of a file. */
    static final long UNKNOWN = -1;

    /** The time of its commands. Thread-safe. */
    private static final class Clock implements Ticker {
        private final ReplayClock all;
        private volatile long millis = UNKNOWN;

        Clock(ReplayClock all) {
            this.all = all;
        }

        @Override
        public long wallMillis() {
            long own = millis;
            return own == UNKNOWN ? all.wallMillis() : own;
        }

        @Override
        public long nanoTime() {
            return all.nanoTime();
        }
    }

    private final Clock clock;
    private final DetachedClient runner;
    private final Client client;
    private final Batch batch = new Batch();
    private final CommandSplit split;
    private final LoadMemory memory;
    private long refused;
    private boolean warned;
    private @Nullable String firstError;
    /** An error after which the data would not be that of before. */
    private @Nullable String fatalError;
    private volatile long offset;
    private volatile boolean stopped;

    /** @param number of this part, from 0 */
    ReplayPart(ServerState server, CommandTable table, ReplayClock clock, LoadMemory memory, int number) {
        this.clock = new Clock(clock);
        this.memory = memory;
        runner = new DetachedClient(server, table, this.clock, this::failed);
        client = runner.client();
        split = new CommandSplit(table, server.cache().newSession(), number, batch);
    }

    /** Commands that were refused when they ran again. */
    long refused() {
        return refused;
    }

    /** The offset that it has reached in the file. */
    long offset() {
        return offset;
    }

    /** The time of the commands that it runs; {@link #UNKNOWN} before the first time of the file. */
    long timeMillis() {
        return clock.millis;
    }

    /** Ends {@link #run} soon. */
    void stop() {
        stopped = true;
    }

    /**
     * Prepares for a file.
     *
     * @param threads that share it
     */
    void begin(int threads) {
        clock.millis = UNKNOWN;
        offset = 0;
        client.database(0);
        split.begin(threads);
    }

    /**
     * Runs the commands of a file that belong to this part.
     *
     * @param reader reads the file for this part alone; it is then at the end of the file, if nothing has failed
     * @param meeting where the parts wait for each other
     */
    void run(Path file, LogReader reader, ReplayMeeting meeting) throws IOException {
        long at = reader.offset();
        split.beginBatch();
        while (reader.read(split)) {
            if (reader.timeMillis() >= 0 && reader.timeMillis() != clock.millis) {
                clock.millis = reader.timeMillis();
                meeting.timePassed();
            }
            runBatch(file, at);
            if (split.isMeetingDue()) {
                if (!meet(meeting)) {
                    return;
                }
                // Before a later time is read.
                runBatch(file, at);
            }
            memory.relieve();
            at = reader.offset();
            offset = at;
            if (stopped) {
                return;
            }
            split.beginBatch();
        }
    }

    /** @return false if the load has failed */
    private boolean meet(ReplayMeeting meeting) {
        if (split.isTogether() && split.isFirst()) {
            meeting.database(client.database());
        }
        if (!meeting.await()) {
            return false;
        }
        split.met();
        if (!split.isTogether()) {
            client.database(meeting.database());
        }
        return true;
    }

    private void runBatch(Path file, long at) throws IOException {
        runner.run(batch, () -> checkErrors(file, at));
    }

    /** Most errors are those that the client has got too. */
    private void checkErrors(Path file, long at) throws IOException {
        if (client.closing() || client.killed()) {
            throw new LogException(file, at, "a command near here ends the connection");
        }
        String fatal = fatalError;
        if (fatal != null && fatal.contains("OOM")) {
            throw new IOException(file + ": its data does not fit into the memory of this machine: " + fatal);
        }
        if (fatal != null) {
            throw new LogException(file, at, "a command near here cannot be run: " + fatal);
        }
        if (refused > 0 && !warned) {
            warned = true;
            LOG.warn("{}, near byte {}: a command was refused: {}", file, at, firstError);
        }
    }

    private void failed(String error) {
        refused++;
        firstError = firstError == null ? error : firstError;
        boolean isFatal = error.contains("OOM") || error.startsWith("MISCONF") || error.startsWith("LOADING")
                || error.startsWith("ERR unknown")
                || error.startsWith("ERR DB index") || error.startsWith("ERR internal error")
                || error.equals(DeferredFlashReplies.FAILED);
        if (isFatal && fatalError == null) {
            fatalError = error;
        }
    }

    @Override
    public void close() {
        runner.close();
    }
}
