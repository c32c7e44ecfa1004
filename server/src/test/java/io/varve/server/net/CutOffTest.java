package io.varve.server.net;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

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
import io.varve.memory.item.ValueRun;
import io.varve.server.command.CommandTable;
import io.varve.server.command.ServerContext;
import io.varve.server.command.registry.Families;
import io.varve.server.config.ServerConfig;
import io.varve.server.resp.LargeBulks;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Connections that are cut off and take as long as they like to close, as encrypted ones do whose client does not read. Each has an event loop of
 * its own, which runs when the test says so. Confined to the test's thread.
 */
class CutOffTest {
    private static final ServerConfig CONFIG = ServerConfig.defaults().with("maxmemory", "64mb").with("shards", "4")
            .with("client-output-buffer-limit", "pubsub 1mb 0 0");
    private static final String MESSAGE = "m".repeat(60_000);
    private static final int MESSAGES = 20;

    private final Cache cache = Cache.open(CONFIG.cacheConfig());
    private final ServerContext server = new ServerContext(cache, CONFIG, CONFIG.cacheConfig().ticker(), _ -> {});
    private final CommandTable table = Families.table(server);
    private final ConnectionBuffers buffers = new ConnectionBuffers(new UnpooledByteBufAllocator(true), cache,
            server.argumentMemory());
    private final Workers workers = new Workers(server, table, buffers);
    private final List<Connected> all = new ArrayList<>();

    @AfterEach
    void stop() {
        for (Connected one : all) {
            one.letClose();
        }
        workers.close();
        cache.close();
    }

    /** A client's end of a connection. Confined to the test's thread. */
    private final class Connected {
        private final Closing closing = new Closing();
        private final EmbeddedChannel channel = new EmbeddedChannel(new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel own) {
                own.pipeline().addLast(closing,
                        new ConnectionHandler(server, workers, new NoLargeBulks(), buffers, own, null));
            }
        });
        private final ConnectionHandler handler = channel.pipeline().get(ConnectionHandler.class);

        /** Sends commands in one piece; what its event loop has to do is done. */
        void send(String... commands) {
            byte[] bytes = (String.join("\r\n", commands) + "\r\n").getBytes(StandardCharsets.ISO_8859_1);
            channel.writeInbound(Unpooled.directBuffer(bytes.length).writeBytes(bytes));
        }

        /** What has been replied since this was last asked. */
        String replies() {
            channel.runPendingTasks();
            StringBuilder text = new StringBuilder();
            for (ByteBuf piece = channel.readOutbound(); piece != null; piece = channel.readOutbound()) {
                text.append(piece.toString(StandardCharsets.ISO_8859_1));
                piece.release();
            }
            return text.toString().replace("\r\n", " ").strip();
        }

        void letClose() {
            closing.letThrough = true;
            channel.finishAndReleaseAll();
        }
    }

    /** Keeps a connection open that is to be closed. Confined to the test's thread. */
    // What becomes of a close is told to its promise.
    @SuppressWarnings("FutureReturnValueIgnored")
    private static final class Closing extends ChannelOutboundHandlerAdapter {
        private boolean letThrough;
        private boolean asked;
        private boolean holdsReplies;

        @Override
        public void close(ChannelHandlerContext ctx, ChannelPromise promise) {
            asked = true;
            if (letThrough) {
                ctx.close(promise);
            }
        }

        /** What is not flushed waits in the channel, as for a client that does not read. */
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
        public @Nullable ValueRun open(int longestArgument, int length) {
            return null;
        }
    }

    private Connected connect() {
        Connected one = new Connected();
        all.add(one);
        return one;
    }

    private static void asks(Connected client, String command, String reply) {
        client.send(command);
        assertThat(client.replies()).as(command).isEqualTo(reply);
    }

    @Test
    void whoIsKilledWaitsForNoKeyAnyMore() {
        Connected killed = connect();
        Connected next = connect();
        Connected other = connect();
        killed.send("BLPOP k 0");
        next.send("BLPOP k 0");
        killed.handler.kill();
        assertThat(killed.closing.asked).isTrue();
        assertThat(killed.channel.isOpen()).isTrue();
        asks(other, "RPUSH k x", ":1");
        assertThat(next.replies()).isEqualTo("*2 $1 k $1 x");
        asks(other, "LLEN k", ":0");
        assertThat(killed.replies()).isEmpty();
        assertThat(server.blockedKeys().keyCount()).isZero();
    }

    @Test
    void whatWasPromisedToWhoIsKilledIsTheNextOnes() {
        Connected killed = connect();
        Connected next = connect();
        Connected other = connect();
        killed.send("BLPOP k 0");
        next.send("BLPOP k 0");
        other.send("RPUSH k x");
        // It was called, and does not come to look.
        killed.handler.kill();
        assertThat(next.replies()).isEqualTo("*2 $1 k $1 x");
        asks(other, "LLEN k", ":1 :0");
        assertThat(killed.replies()).isEmpty();
    }

    @Test
    void whoIsKilledStandsInFrontOfNoBarrier() {
        Connected called = connect();
        Connected waits = connect();
        Connected killed = connect();
        Connected other = connect();
        called.send("BLPOP k 0");
        waits.send("BLPOP j 0");
        asks(other, "RPUSH k x", ":1");
        killed.send("DBSIZE");
        killed.handler.kill();
        asks(other, "RPUSH j y", ":1");
        assertThat(waits.replies()).isEqualTo("*2 $1 j $1 y");
        assertThat(called.replies()).isEqualTo("*2 $1 k $1 x");
        assertThat(killed.replies()).isEmpty();
    }

    @Test
    void whoIsCutOffBecauseItDoesNotReadWaitsForNoKeyAnyMore() {
        Connected slow = connect();
        Connected next = connect();
        Connected other = connect();
        slow.send("HELLO 3", "SUBSCRIBE c", "BLPOP k 0");
        next.send("BLPOP k 0");
        slow.closing.holdsReplies = true;
        for (int i = 0; i < MESSAGES; i++) {
            other.send("PUBLISH c " + MESSAGE);
            slow.channel.runPendingTasks();
        }
        assertThat(other.replies()).startsWith(":1 ").endsWith(" :0");
        assertThat(slow.closing.asked).isTrue();
        assertThat(slow.channel.isOpen()).isTrue();
        asks(other, "RPUSH k x", ":1");
        assertThat(next.replies()).isEqualTo("*2 $1 k $1 x");
        asks(other, "LLEN k", ":0");
    }

    /** Commands that come while the connection is about to close are not executed. */
    @Test
    void nothingIsExecutedForWhoIsKilled() {
        Connected killed = connect();
        Connected other = connect();
        killed.handler.kill();
        killed.send("SET k v");
        assertThat(killed.replies()).isEmpty();
        asks(other, "EXISTS k", ":0");
    }
}
