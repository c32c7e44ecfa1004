package io.varve.server;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

import io.varve.server.config.ServerConfig;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** {@code bind} and {@code port} while the server runs. Confined to the test's thread. */
class ListenersTest {
    /** Kept for documents: no machine has it. */
    private static final String NOBODYS = "192.0.2.77";

    private VarveServer server = start("1", "epoll");

    private static VarveServer start(String loops, String transport) {
        ServerConfig config = ServerConfig.defaults().with("port", "0").with("maxmemory", "64mb")
                .with("io-threads", loops).with("transport", transport);
        try {
            return VarveServer.start(config, StubCache.create(config.cacheConfig()));
        } catch (IOException failed) {
            throw new java.io.UncheckedIOException(failed);
        }
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    private static boolean answers(String address, int port) throws IOException {
        try (Socket socket = new Socket(address, port)) {
            socket.getOutputStream().write("PING\r\n".getBytes(java.nio.charset.StandardCharsets.US_ASCII));
            return socket.getInputStream().read() == '+';
        } catch (ConnectException refused) {
            return false;
        }
    }

    @ParameterizedTest
    @CsvSource({"1,epoll", "4,epoll", "1,nio", "2,io_uring"})
    void setPort_movesTheListener_andConnectionsStay(String loops, String transport) throws IOException {
        server.close();
        server = start(loops, transport);
        int before = server.port();
        try (RawClient client = new RawClient(before)) {
            for (int i = 0; i < 3; i++) {
                int next = freePort();
                assertThat(client.call("CONFIG", "SET", "port", Integer.toString(next)).text()).isEqualTo("OK");
                assertThat(server.port()).isEqualTo(next);
                assertThat(answers("127.0.0.1", next)).isTrue();
                assertThat(answers("127.0.0.1", before)).isFalse();
                assertThat(client.call("INFO", "server").text()).contains("\r\ntcp_port:" + next + "\r\n",
                        "\r\nlistener0:name=tcp,bind=127.0.0.1,port=" + next);
                assertThat(client.call("CONFIG", "GET", "port").toString()).contains(Integer.toString(next));
                before = next;
            }
        }
    }

    @Test
    void setPort_thatIsTaken_leavesEverythingAsItWas() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                RawClient client = new RawClient(server.port())) {
            int before = server.port();
            assertThat(client.call("CONFIG", "SET", "timeout", "7", "port", Integer.toString(taken.getLocalPort()))
                    .text()).isEqualTo("ERR CONFIG SET failed (possibly related to argument 'port') - Unable to listen"
                            + " on this port. Check server logs.");
            assertThat(client.call("CONFIG", "GET", "timeout").toString()).contains("0").doesNotContain("7");
            assertThat(server.port()).isEqualTo(before);
            assertThat(answers("127.0.0.1", before)).isTrue();
        }
    }

    @Test
    void setPort_zeroWhereClientsHaveNoOtherWay_isRefused() throws IOException {
        try (RawClient client = new RawClient(server.port())) {
            assertThat(client.call("CONFIG", "SET", "port", "1").text()).isEqualTo("OK");
            assertThat(client.call("CONFIG", "SET", "port", "0").text()).startsWith("ERR CONFIG SET failed (possibly"
                    + " related to argument 'port') - argument must be between 1 and 65535 inclusive");
            assertThat(server.port()).isEqualTo(1);
        }
    }

    @Test
    void setBind_opensTheNewAddresses_andClosesTheOthers() throws IOException {
        int port = server.port();
        try (RawClient client = new RawClient(port)) {
            assertThat(client.call("CONFIG", "SET", "bind", "127.0.0.1 127.0.0.2 -" + NOBODYS).text())
                    .isEqualTo("OK");
            assertThat(answers("127.0.0.1", port)).isTrue();
            assertThat(answers("127.0.0.2", port)).isTrue();
            assertThat(client.call("CONFIG", "SET", "bind", "127.0.0.2").text()).isEqualTo("OK");
            assertThat(answers("127.0.0.1", port)).isFalse();
            assertThat(answers("127.0.0.2", port)).isTrue();
            // All addresses and one of them exclude each other.
            for (String bind : new String[] {"*", "127.0.0.1", "0.0.0.0", "* -::*", "127.0.0.1"}) {
                assertThat(client.call("CONFIG", "SET", "bind", bind).text()).as(bind).isEqualTo("OK");
                assertThat(answers("127.0.0.1", port)).isTrue();
                assertThat(answers("127.0.0.2", port)).as(bind).isEqualTo(!bind.equals("127.0.0.1"));
                assertThat(client.call("CONFIG", "GET", "bind").toString()).contains(bind);
            }
            assertThat(server.port()).isEqualTo(port);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {NOBODYS, "127.0.0.2 " + NOBODYS, "* " + NOBODYS, "-" + NOBODYS})
    void setBind_toAnAddressThatIsNotThere_leavesEverythingAsItWas(String bind) throws IOException {
        int port = server.port();
        try (RawClient client = new RawClient(port)) {
            assertThat(client.call("CONFIG", "SET", "hz", "20", "bind", bind).text()).isEqualTo("ERR CONFIG SET failed"
                    + " (possibly related to argument 'bind') - Failed to bind to specified addresses.");
            assertThat(client.call("CONFIG", "GET", "bind", "hz").toString()).contains("127.0.0.1", "10")
                    .doesNotContain(NOBODYS);
            assertThat(answers("127.0.0.1", port)).isTrue();
            assertThat(answers("127.0.0.2", port)).isFalse();
        }
    }

    @Test
    void setBindAndPort_together() throws IOException {
        int before = server.port();
        int next = freePort();
        try (RawClient client = new RawClient(before)) {
            assertThat(client.call("CONFIG", "SET", "port", Integer.toString(next), "bind", "127.0.0.2").text())
                    .isEqualTo("OK");
            assertThat(answers("127.0.0.2", next)).isTrue();
            assertThat(answers("127.0.0.1", before)).isFalse();
            assertThat(answers("127.0.0.1", next)).isFalse();
            assertThat(client.call("PING").text()).isEqualTo("PONG");
        }
    }

    /** What another setting refuses is undone. */
    @Test
    void setPort_whereAnotherSettingIsRefused_opensNothing() throws IOException {
        int before = server.port();
        int next = freePort();
        try (RawClient client = new RawClient(before)) {
            assertThat(client.call("CONFIG", "SET", "port", Integer.toString(next), "maxmemory", "100").text())
                    .startsWith("ERR CONFIG SET failed (possibly related to argument 'maxmemory')");
            assertThat(answers("127.0.0.1", next)).isFalse();
            assertThat(answers("127.0.0.1", before)).isTrue();
        }
        assertThatThrownBy(() -> new RawClient(next)).isInstanceOf(ConnectException.class);
    }
}
