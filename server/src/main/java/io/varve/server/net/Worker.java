package io.varve.server.net;

import java.util.ArrayDeque;
import java.util.Objects;

import io.netty.buffer.ByteBufAllocator;
import io.varve.server.command.CommandTable;
import io.varve.server.command.ServerState;
import io.varve.server.command.batch.Batch;
import io.varve.server.command.dispatch.Dispatcher;
import io.varve.server.command.dispatch.EventLoopExecutor;
import io.varve.server.resp.ReplyWriter;
import io.varve.server.resp.ReusedBuffer;
import io.varve.server.tracking.Tracker;
import io.varve.server.tracking.Tracking;
import org.jspecify.annotations.Nullable;

/**
 * The objects that the connections of one event loop share: the dispatcher with its cache session, the reply writer,
 * spare batches. Confined to that event loop.
 */
final class Worker implements AutoCloseable {
    private static final int SPARE_BATCHES = 4;
    /** A batch of 64 short requests fits; a retained part of it holds no more. */
    private static final int RECEIVE_BYTES = 4 << 10;

    private final ServerState server;
    private final CommandTable table;
    private final ByteBufAllocator allocator;
    private final EventLoopExecutor loop;
    private final Dispatcher dispatcher;
    private final ReplyWriter reply;
    private final ReusedBuffer received;
    private final ArrayDeque<Batch> spare = new ArrayDeque<>();
    private final HeldReplies heldReplies;
    /** Created for the first slow script. */
    private @Nullable Worker standIn;
    private boolean isInScript;

    Worker(ServerState server, CommandTable table, ByteBufAllocator allocator, EventLoopExecutor loop) {
        this(server, table, allocator, loop, false);
    }

    private Worker(ServerState server, CommandTable table, ByteBufAllocator allocator, EventLoopExecutor loop,
            boolean isDuringScripts) {
        this.server = server;
        this.table = table;
        this.allocator = allocator;
        this.loop = loop;
        heldReplies = new HeldReplies(server.log(), loop);
        dispatcher = isDuringScripts
                ? Dispatcher.duringScripts(server, table, loop)
                : new Dispatcher(server, table, loop, this::serveOthers);
        reply = new ReplyWriter(allocator, server.argumentMemory());
        received = new ReusedBuffer(allocator, RECEIVE_BYTES);
    }

    /**
     * What executes commands now: this worker, or its stand-in while this one is in the middle of a script. Then other
     * connections have turns only for the commands that a busy server admits.
     */
    Worker atTurn() {
        return isInScript ? Objects.requireNonNull(standIn) : this;
    }

    private void serveOthers() {
        if (standIn == null) {
            standIn = new Worker(server, table, allocator, loop, true);
        }
        isInScript = true;
        Tracker tracker = Tracking.running();
        try {
            loop.serveOthers();
        } finally {
            isInScript = false;
            server.notifications().tracking().running(tracker);
        }
    }

    Dispatcher dispatcher() {
        return dispatcher;
    }

    ReplyWriter reply() {
        return reply;
    }

    /** The receive buffer of connections with small reads. */
    ReusedBuffer received() {
        return received;
    }

    /** Takes an empty batch, to be returned by {@link #returnBatch}. */
    Batch takeBatch() {
        Batch batch = spare.poll();
        return batch == null ? new Batch() : batch;
    }

    void returnBatch(Batch batch) {
        batch.clear();
        if (spare.size() < SPARE_BATCHES && !batch.isSlim()) {
            spare.push(batch);
        }
    }

    /** The connections whose replies wait for the log. */
    HeldReplies heldReplies() {
        return heldReplies;
    }

    /** Called after the end of its event loop. */
    @Override
    public void close() {
        dispatcher.close();
        reply.close();
        received.close();
        if (standIn != null) {
            standIn.close();
        }
    }
}
