package io.varve.server.net;

import java.util.ArrayDeque;

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.EventLoop;
import io.varve.server.command.Batch;
import io.varve.server.command.CommandTable;
import io.varve.server.command.ServerContext;
import io.varve.server.command.dispatch.Dispatcher;
import io.varve.server.resp.ReplyWriter;
import io.varve.server.resp.ReusedBuffer;

/**
 * What the connections of one event loop share: the dispatcher with its cache session, the reply writer, spare batches.
 * Confined to that event loop.
 */
final class Worker implements AutoCloseable {
    private static final int SPARE_BATCHES = 4;
    /** A batch of 64 short requests fits; what is kept of it holds no more. */
    private static final int RECEIVE_BYTES = 4 << 10;

    private final Dispatcher dispatcher;
    private final ReplyWriter reply;
    private final ReusedBuffer received;
    private final ArrayDeque<Batch> spare = new ArrayDeque<>();

    Worker(ServerContext server, CommandTable table, ByteBufAllocator allocator, EventLoop loop) {
        dispatcher = new Dispatcher(server, table, new TasksOf(loop));
        reply = new ReplyWriter(allocator, server.argumentMemory());
        received = new ReusedBuffer(allocator, RECEIVE_BYTES);
    }

    Dispatcher dispatcher() {
        return dispatcher;
    }

    ReplyWriter reply() {
        return reply;
    }

    /** What connections receive into as long as little comes at a time. */
    ReusedBuffer received() {
        return received;
    }

    /** An empty batch; {@link #giveBack} it. */
    Batch takeBatch() {
        Batch batch = spare.poll();
        return batch == null ? new Batch() : batch;
    }

    void giveBack(Batch batch) {
        batch.clear();
        if (spare.size() < SPARE_BATCHES && !batch.isSlim()) {
            spare.push(batch);
        }
    }

    /** Called when its event loop has ended. */
    @Override
    public void close() {
        dispatcher.close();
        reply.close();
        received.close();
    }
}
