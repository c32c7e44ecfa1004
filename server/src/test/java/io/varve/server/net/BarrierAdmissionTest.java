package io.varve.server.net;

import java.net.InetAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.varve.memory.Cache;
import io.varve.server.command.ServerState;
import io.varve.server.command.registry.CommandFamilies;
import io.varve.server.config.ServerConfig;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests clients that connect while an event loop is busy. Confined to the test's thread, except the loop's counters.
 */
class BarrierAdmissionTest {
    private static final int CLIENTS = NetworkServer.MAX_ACCEPTS_PER_READ;

    /** The number of admitted readers per round of the event loop. Confined to the loop until it is read. */
    private static final class Rounds extends ChannelInboundHandlerAdapter {
        private final List<Integer> rounds = new ArrayList<>();
        private int now;
        private final AtomicInteger all = new AtomicInteger();

        @Override
        public void channelRead(ChannelHandlerContext context, Object client) {
            now++;
            context.fireChannelRead(client);
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            rounds.add(now);
            all.addAndGet(now);
            now = 0;
            context.fireChannelReadComplete();
        }
    }

    /**
     * Each round may take as long as the requests of all admitted readers: a new reader must not wait for one round for
     * each earlier one.
     */
    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    void waitingReadersAreAdmittedTogether(String transport) throws Exception {
        ServerConfig config = ServerConfig.defaults().with("bind", "127.0.0.1").with("port", "0")
                .with("io-threads", "1")
                .with("maxmemory", "64mb")
                .with("transport", transport);
        List<Socket> clients = new ArrayList<>();
        try (Cache cache = Cache.open(config.cacheConfig())) {
            ServerState server = new ServerState(cache, config, config.cacheConfig().ticker(), _ -> {});
            try (NetworkServer network = NetworkServer.start(server, CommandFamilies.table(server))) {
                Channel gate = network.listening().iterator().next();
                Rounds rounds = new Rounds();
                gate.pipeline().addFirst(rounds);
                CountDownLatch begun = new CountDownLatch(1);
                CountDownLatch busy = new CountDownLatch(1);
                gate.eventLoop().execute(() -> {
                    begun.countDown();
                    awaitUnchecked(busy);
                });
                // A loop that has just woken reads its channels first: a reader that arrives then would be admitted, by
                // a pipeline, before the counting starts.
                begun.await();
                for (int i = 0; i < CLIENTS; i++) {
                    clients.add(new Socket(InetAddress.getLoopbackAddress(), network.port()));
                }
                busy.countDown();
                await().until(() -> rounds.all.get() == CLIENTS);
                assertThat(rounds.rounds).containsExactly(CLIENTS);
            } finally {
                for (Socket client : clients) {
                    client.close();
                }
            }
        }
    }

    private static void awaitUnchecked(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }
}
