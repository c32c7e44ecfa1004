package io.varve.server.clients;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import io.varve.server.testing.RawClient;
import io.varve.server.testing.ServerProcess;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Tests that thousands of blocked clients do not fill a server's small heap. Confined to the test's thread. */
class BlockedClientsIT {
    private static final int CLIENTS = 4000;

    private static ServerProcess start() throws IOException {
        return ServerProcess.start(command -> {
            List<String> smaller = new ArrayList<>(command);
            smaller.add(smaller.indexOf("-cp"), "-Xmx36m");
            return smaller;
        }, "--maxmemory", "64mb");
    }

    private static void send(SocketChannel socket, String text) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII));
        while (bytes.hasRemaining()) {
            assertThat(socket.write(bytes)).isPositive();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"WAIT 1 600000\r\n", "BLPOP nothing 0\r\n", "WAIT 1 600000\r\nGET k\r\n"})
    void thousandsMayWait(String command) throws IOException {
        List<SocketChannel> waiting = new ArrayList<>();
        try (ServerProcess server = start(); RawClient client = new RawClient(server.port())) {
            try {
                for (int i = 0; i < CLIENTS; i++) {
                    SocketChannel socket = SocketChannel
                            .open(new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port()));
                    waiting.add(socket);
                    send(socket, command);
                }
                await().until(() -> client.infoLong("blocked_clients") == CLIENTS);
                assertThat(client.call("SET", "k", "v").text()).isEqualTo("OK");
            } finally {
                for (SocketChannel socket : waiting) {
                    socket.close();
                }
            }
            await().until(() -> client.infoLong("connected_clients") == 1);
            assertThat(server.errors()).doesNotContain("ERROR");
        }
    }
}
