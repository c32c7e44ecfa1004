package io.varve.server.net;

import java.nio.charset.StandardCharsets;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import io.varve.memory.item.ValueRun;
import io.varve.server.command.CommandTable;
import io.varve.server.command.ServerState;
import io.varve.server.command.dispatch.EventLoopExecutor;
import io.varve.server.resp.LargeBulks;
import org.jspecify.annotations.Nullable;

/**
 * A connection without a socket: the connection handler of a server in an embedded channel, with a worker of its own,
 * as each event loop has one. Confined to one thread.
 */
final class EmbeddedConnection implements AutoCloseable {
    private static final class SmallBulksOnly implements LargeBulks {
        @Override
        public int thresholdBytes() {
            return Integer.MAX_VALUE;
        }

        @Override
        public @Nullable ValueRun open(Earlier earlier, int longestArgument, int length) {
            return null;
        }
    }

    /**
     * The tasks that other threads give this one, as when a shard is unlocked that a command waits for; the embedded
     * channel's own queue is for one thread only. Thread-safe.
     */
    private final class Tasks implements EventLoopExecutor {
        private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();

        @Override
        public void execute(Runnable task) {
            tasks.add(task);
        }

        @Override
        @SuppressWarnings("FutureReturnValueIgnored") // the channel reports a failed task
        public void schedule(Runnable task, long millis) {
            channel.eventLoop().schedule(task, millis, TimeUnit.MILLISECONDS);
        }

        void run() {
            for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
                task.run();
            }
        }
    }

    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final Tasks tasks = new Tasks();

    EmbeddedConnection(ServerState server, CommandTable table) {
        ConnectionBuffers buffers = new ConnectionBuffers(ByteBufAllocator.DEFAULT, server.cache(),
                server.argumentMemory());
        channel.config().setAllocator(buffers);
        channel.pipeline().addLast(new ConnectionHandler(server, new Workers(server, table, buffers, _ -> tasks),
                new SmallBulksOnly(), buffers, channel, null));
        channel.pipeline().fireChannelActive();
    }

    /** The request as a client sends it. */
    static String words(String... words) {
        StringBuilder text = new StringBuilder("*").append(words.length).append("\r\n");
        for (String word : words) {
            text.append('$').append(word.length()).append("\r\n").append(word).append("\r\n");
        }
        return text.toString();
    }

    void send(String request) {
        ByteBuf in = newBuffer(request.length());
        in.writeCharSequence(request, StandardCharsets.US_ASCII);
        exchange(in);
    }

    /** Creates a buffer for requests, as the one that a socket is read into. */
    ByteBuf newBuffer(int bytes) {
        return channel.alloc().directBuffer(bytes);
    }

    /**
     * Runs requests, to the end of the turn: a command that waits for a shard may still have to run.
     *
     * @return bytes of the replies
     * @throws IllegalStateException if a reply is an error, or the connection was closed
     */
    long exchange(ByteBuf in) {
        // As an event loop does; writeInbound would allocate an array for its argument.
        channel.pipeline().fireChannelRead(in);
        channel.pipeline().fireChannelReadComplete();
        channel.runPendingTasks();
        return takeReplies();
    }

    /**
     * Runs requests until all replies are there.
     *
     * @param replyBytes the size of the replies
     */
    long exchange(ByteBuf in, long replyBytes) {
        long bytes = exchange(in);
        while (bytes < replyBytes) {
            Thread.onSpinWait();
            tasks.run();
            channel.runPendingTasks();
            bytes += takeReplies();
        }
        return bytes;
    }

    private long takeReplies() {
        long bytes = 0;
        for (ByteBuf out = channel.readOutbound(); out != null; out = channel.readOutbound()) {
            bytes += out.readableBytes();
            if (out.readableBytes() > 0 && out.getByte(out.readerIndex()) == '-') {
                throw new IllegalStateException(out.toString(StandardCharsets.US_ASCII));
            }
            out.release();
        }
        if (!channel.isOpen()) {
            throw new IllegalStateException("The server has closed the connection");
        }
        return bytes;
    }

    @Override
    public void close() {
        channel.finishAndReleaseAll();
    }
}
