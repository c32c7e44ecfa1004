package io.varve.server.net;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.varve.memory.Cache;
import io.varve.memory.config.CacheConfig;
import io.varve.memory.item.ValueRun;
import io.varve.server.command.ServerState;
import io.varve.server.command.registry.CommandFamilies;
import io.varve.server.config.ServerConfig;
import io.varve.server.resp.LargeBulks;
import io.varve.server.testing.SettableTicker;
import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A server without sockets. Confined to the test's thread. Each connection has its own event loop; the test controls
 * the loops and the clock.
 */
final class EmbeddedConnections implements AutoCloseable {
    private final SettableTicker ticker = new SettableTicker();
    private final Cache cache;
    private final ServerState server;
    private final ConnectionBuffers buffers;
    private final Workers workers;
    private final List<Client> clients = new ArrayList<>();

    EmbeddedConnections(ServerConfig config) {
        CacheConfig cacheConfig = config.cacheConfig().withTicker(ticker);
        cache = Cache.open(cacheConfig);
        server = new ServerState(cache, config, ticker, _ -> {});
        buffers = new ConnectionBuffers(new UnpooledByteBufAllocator(true), cache, server.argumentMemory());
        workers = new Workers(server, CommandFamilies.table(server), buffers);
    }

    ServerState server() {
        return server;
    }

    Client connect() {
        Client one = new Client();
        clients.add(one);
        return one;
    }

    /** For the server, and for what waits for its time on event loops. */
    void pass(int millis) {
        ticker.pass(millis);
        for (Client client : clients) {
            client.channel.advanceTimeBy(millis, TimeUnit.MILLISECONDS);
        }
    }

    @Override
    public void close() {
        clients.forEach(Client::letClose);
        workers.close();
        cache.close();
    }

    /** A client's end of a connection. Confined to the test's thread. */
    final class Client {
        private final Closing closing = new Closing();
        private final EmbeddedChannel channel = new EmbeddedChannel(new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel own) {
                own.pipeline().addLast(closing,
                        new ConnectionHandler(server, workers, new NoLargeBulks(), buffers, own, null));
            }
        });

        private Client() {
            channel.freezeTime();
        }

        /** Sends commands in one piece; what its event loop has to do is done. */
        void send(String... commands) {
            sendBytes(String.join("\r\n", commands) + "\r\n");
        }

        /** Runs the tasks of its event loop, and returns the replies since the last call. */
        String replies() {
            run();
            StringBuilder text = new StringBuilder();
            for (ByteBuf piece = channel.readOutbound(); piece != null; piece = channel.readOutbound()) {
                text.append(piece.toString(StandardCharsets.ISO_8859_1));
                piece.release();
            }
            return text.toString().replace("\r\n", " ").strip();
        }

        void expect(String command, String reply) {
            send(command);
            assertThat(replies()).as(command).isEqualTo(reply);
        }

        /** Runs the tasks of its event loop. */
        void run() {
            channel.runPendingTasks();
            // Tasks of expired timers.
            channel.runPendingTasks();
        }

        /** As CLIENT KILL does. */
        void kill() {
            channel.pipeline().get(ConnectionHandler.class).kill();
        }

        /** Sends what may end in the middle of a command. */
        void sendBytes(String bytes) {
            byte[] sent = bytes.getBytes(StandardCharsets.ISO_8859_1);
            channel.writeInbound(Unpooled.directBuffer(sent.length).writeBytes(sent));
        }

        /** As the server does once a second. */
        void check() {
            channel.pipeline().get(ConnectionHandler.class).check(ticker.wallMillis());
        }

        /** From now on it does not read. */
        void stopReading() {
            closing.holdsReplies = true;
        }

        /** Whether the server closes the connection, which it has not done yet. */
        boolean isClosing() {
            return closing.requested && channel.isOpen();
        }

        private void letClose() {
            closing.letThrough = true;
            channel.finishAndReleaseAll();
        }
    }

    /**
     * Keeps a connection open that is to be closed, as encryption does with a client that does not read. Confined to
     * the test's thread.
     */
    // The promise of a pending close.
    @SuppressWarnings("FutureReturnValueIgnored")
    private static final class Closing extends ChannelOutboundHandlerAdapter {
        private boolean letThrough;
        private boolean requested;
        private boolean holdsReplies;

        @Override
        public void close(ChannelHandlerContext ctx, ChannelPromise promise) {
            requested = true;
            if (letThrough) {
                ctx.close(promise);
            }
        }

        /** Unflushed output waits in the channel. */
        @Override
        public void flush(ChannelHandlerContext ctx) {
            if (!holdsReplies || letThrough) {
                ctx.flush();
            }
        }
    }

    /** All bulks are short. Immutable. */
    private static final class NoLargeBulks implements LargeBulks {
        @Override
        public int thresholdBytes() {
            return Integer.MAX_VALUE;
        }

        @Override
        public @Nullable ValueRun open(Earlier earlier, int longestArgument, int length) {
            return null;
        }
    }
}
