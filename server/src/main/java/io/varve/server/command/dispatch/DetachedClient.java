package io.varve.server.command.dispatch;

import java.io.IOException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.varve.memory.item.Ticker;
import io.varve.server.acl.AccessControl;
import io.varve.server.command.CommandNameIndex;
import io.varve.server.command.CommandTable;
import io.varve.server.command.ServerState;
import io.varve.server.command.batch.Batch;
import io.varve.server.command.session.Client;
import io.varve.server.command.session.Connection;
import io.varve.server.command.session.ParkedCommand;
import io.varve.server.command.text.GlobPattern;
import io.varve.server.config.ServerConfig;
import io.varve.server.resp.ReplyWriter;

/**
 * A client without a connection: its thread runs commands of a log or of a primary, as an event loop runs those of its
 * clients. It may do everything, and its replies are dropped. Confined to that thread.
 */
public final class DetachedClient implements AutoCloseable {
    /** Called after one command, or several, have run. */
    @FunctionalInterface
    public interface Checkpoint {
        /** @throws IOException if the commands after them must not run */
        void passed() throws IOException;
    }

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

    private final Tasks tasks = new Tasks();
    private final Dispatcher dispatcher;
    private final Client client;
    private final ReplyWriter reply;

    /**
     * @param clock the time of its commands
     * @param onError receives each error reply
     */
    public DetachedClient(ServerState server, CommandTable table, Ticker clock, Consumer<String> onError) {
        dispatcher = new Dispatcher(server, table, tasks, clock);
        AccessControl everything = AccessControl.open(new CommandNameIndex(table), GlobPattern::matches,
                ServerConfig.defaults());
        client = server.lifecycle().internal(new NoConnection(), everything.defaultAccount());
        reply = ReplyWriter.discarding(server.argumentMemory(), onError);
    }

    public Client client() {
        return client;
    }

    /** Runs all commands of a batch, and clears it. */
    public void run(Batch batch, Checkpoint checkpoint) throws IOException {
        dispatcher.prepare(batch, client);
        int next = 0;
        while (next < batch.commandCount()) {
            next = dispatcher.run(batch, next, client, reply);
            ParkedCommand parked = dispatcher.takeParkedCommand();
            if (parked != null) {
                await(parked);
            }
            reply.rollback(0);
            checkpoint.passed();
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
            throw new IOException("the server is closing", interrupted);
        }
        dispatcher.answer(parked, client, reply);
        parked.finish();
    }

    @Override
    public void close() {
        dispatcher.close();
        reply.close();
    }
}
