package io.varve.server.recovery;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import io.varve.memory.item.Ticker;
import io.varve.server.acl.AccessControl;
import io.varve.server.command.CommandNameIndex;
import io.varve.server.command.CommandTable;
import io.varve.server.command.ServerState;
import io.varve.server.command.batch.Batch;
import io.varve.server.command.blocking.DeferredFlashReplies;
import io.varve.server.command.dispatch.Dispatcher;
import io.varve.server.command.dispatch.EventLoopExecutor;
import io.varve.server.command.persistence.LoadMemory;
import io.varve.server.command.session.Client;
import io.varve.server.command.session.Connection;
import io.varve.server.command.session.ParkedCommand;
import io.varve.server.command.text.GlobPattern;
import io.varve.server.config.ServerConfig;
import io.varve.server.persistence.LogException;
import io.varve.server.persistence.LogReader;
import io.varve.server.persistence.ReplayClock;
import io.varve.server.resp.ReplyWriter;
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

    /** The tasks that other threads give this one, as when a shard is unlocked. Thread-safe. */
    private static final class Tasks implements EventLoopExecutor {
        private final BlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();

        @Override
        public void execute(Runnable task) {
            tasks.add(task);
        }

        @Override
        public void schedule(Runnable task, long millis) {
            CompletableFuture.delayedExecutor(millis, TimeUnit.MILLISECONDS).execute(() -> tasks.add(task));
        }

        void runNext() throws InterruptedException {
            tasks.take().run();
        }
    }

    /** The connection of a client that has none. */
    private static final class NoConnection implements Connection {
        @Override
        public boolean isReplay() {
            return true;
        }

        @Override
        public void kill() {
            // It serves no one.
        }

        @Override
        public void onMessages() {
            // It subscribes to nothing.
        }

        @Override
        public long outgoingBytes() {
            return 0;
        }

        @Override
        public long incomingBytes() {
            return 0;
        }

        @Override
        public long incomingCapacityBytes() {
            return 0;
        }

        @Override
        public int fileDescriptor() {
            return -1;
        }
    }

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
    private final Tasks tasks = new Tasks();
    private final Dispatcher dispatcher;
    private final Client client;
    private final ReplyWriter reply;
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
        dispatcher = new Dispatcher(server, table, tasks, this.clock);
        AccessControl everything = AccessControl.open(new CommandNameIndex(table), GlobPattern::matches,
                ServerConfig.defaults());
        client = server.lifecycle().internal(new NoConnection(), everything.defaultAccount());
        reply = ReplyWriter.discarding(server.argumentMemory(), this::failed);
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
        dispatcher.prepare(batch, client);
        int next = 0;
        while (next < batch.commandCount()) {
            next = dispatcher.run(batch, next, client, reply);
            ParkedCommand parked = dispatcher.takeParkedCommand();
            if (parked != null) {
                await(parked);
            }
            reply.rollback(0);
            checkErrors(file, at);
        }
        batch.clear();
    }

    private void await(ParkedCommand parked) throws IOException {
        parked.onAnswer(() -> tasks.execute(() -> {}));
        try {
            while (!parked.answered()) {
                tasks.runNext();
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IOException("the load was interrupted", interrupted);
        }
        dispatcher.answer(parked, client, reply);
        parked.finish();
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
        dispatcher.close();
        reply.close();
    }
}
