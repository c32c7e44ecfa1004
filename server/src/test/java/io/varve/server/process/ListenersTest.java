package io.varve.server.process;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

import io.varve.memory.Cache;
import io.varve.server.VarveServer;
import io.varve.server.config.ServerConfig;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.StubCache;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests changes of {@code bind} and {@code port} while the server runs. Confined to the test's thread. */
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
    void setPort_thatIsInUse_changesNothing() throws IOException {
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

    /** In each order, and where an address that stays had to be closed for another one. */
    @ParameterizedTest
    @CsvSource({"1,epoll", "1,io_uring"})
    void setBind_withAnOptionalAddressThatIsNotThere_keepsTheOthers(String loops, String transport)
            throws IOException {
        server.close();
        server = start(loops, transport);
        int port = server.port();
        try (RawClient client = new RawClient(port)) {
            for (String bind : new String[] {"-" + NOBODYS + " 127.0.0.1", "127.0.0.1 -" + NOBODYS,
                    "-" + NOBODYS + " 127.0.0.1", "*", "-" + NOBODYS + " *", "-" + NOBODYS + " 127.0.0.1",
                    "-127.0.0.2 -" + NOBODYS + " -127.0.0.1"}) {
                assertThat(client.call("CONFIG", "SET", "bind", bind).text()).as(bind).isEqualTo("OK");
                assertThat(answers("127.0.0.1", port)).as(bind).isTrue();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {NOBODYS, "127.0.0.2 " + NOBODYS, "* " + NOBODYS, "-" + NOBODYS})
    void setBind_toAMissingAddress_changesNothing(String bind) throws IOException {
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

    /** If the cache refuses its part, which is prepared last, the change is undone. */
    @Test
    void setPort_whereTheCacheRefusesAnotherSetting_opensNothing() throws IOException {
        server.close();
        ServerConfig config = ServerConfig.defaults().with("port", "0").with("maxmemory", "64mb")
                .with("io-threads", "1");
        server = VarveServer.start(config, refusing(StubCache.create(config.cacheConfig())));
        int before = server.port();
        int next = freePort();
        try (RawClient client = new RawClient(before)) {
            assertThat(client.call("CONFIG", "SET", "port", Integer.toString(next), "maxmemory", "70mb").text())
                    .isEqualTo(
                            "ERR CONFIG SET failed (possibly related to argument 'maxmemory') - maxmemory 73400320: refused");
            assertThat(answers("127.0.0.1", next)).isFalse();
            assertThat(answers("127.0.0.1", before)).isTrue();
        }
        assertThatThrownBy(() -> new RawClient(next)).isInstanceOf(ConnectException.class);
    }

    /** A cache that takes no other settings than those that it was opened with. */
    private static Cache refusing(Cache cache) {
        return (Cache) Proxy.newProxyInstance(ListenersTest.class.getClassLoader(), new Class<?>[] {Cache.class},
                (_, method, arguments) -> {
                    if (method.getName().equals("reconfigure")) {
                        throw new IllegalArgumentException("maxmemory 73400320: refused");
                    }
                    return method.invoke(cache, arguments);
                });
    }

    @Test
    void setBind_toNoAddress_closesThePort_ifThereIsAUnixSocket(@TempDir Path folder) throws IOException {
        Path socket = folder.resolve("socket");
        server.close();
        int port = freePort();
        ServerConfig config = ServerConfig.defaults().with("port", Integer.toString(port)).with("maxmemory", "64mb")
                .with("io-threads", "1").with("unixsocket", socket.toString());
        server = VarveServer.start(config.with("bind", ""), StubCache.create(config.cacheConfig()));
        assertThat(answers("127.0.0.1", port)).isFalse();
        assertThat(callOn(socket, "INFO server")).contains("name=unix").doesNotContain("name=tcp");
        assertThat(callOn(socket, "CONFIG SET bind 127.0.0.1")).isEqualTo("+OK\r\n");
        assertThat(answers("127.0.0.1", port)).isTrue();
        assertThat(callOn(socket, "CONFIG SET bind ''")).isEqualTo("+OK\r\n");
        assertThat(answers("127.0.0.1", port)).isFalse();
        assertThat(callOn(socket, "CONFIG GET bind")).isEqualTo("*2\r\n$4\r\nbind\r\n$0\r\n\r\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " "})
    void setBind_toNoAddress_isRefused_ifThereIsNoUnixSocket(String bind) throws IOException {
        int port = server.port();
        try (RawClient client = new RawClient(port)) {
            assertThat(client.call("CONFIG", "SET", "bind", bind).text()).startsWith("ERR CONFIG SET failed (possibly"
                    + " related to argument 'bind') - ").contains("no client could connect", "unixsocket");
            assertThat(answers("127.0.0.1", port)).isTrue();
            assertThat(answers("127.0.0.2", port)).isFalse();
        }
    }

    /** Sends an inline command. @return its reply as it came */
    private static String callOn(Path socket, String command) throws IOException {
        try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
            channel.write(ByteBuffer.wrap((command + "\r\nQUIT\r\n").getBytes(StandardCharsets.US_ASCII)));
            String reply = new String(Channels.newInputStream(channel).readAllBytes(), StandardCharsets.US_ASCII);
            return reply.substring(0, reply.lastIndexOf("+OK\r\n"));
        }
    }
}
