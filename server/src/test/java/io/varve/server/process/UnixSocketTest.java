package io.varve.server.process;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

import io.varve.server.VarveServer;
import io.varve.server.config.ServerConfig;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.UnixClient;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests clients that connect through {@code unixsocket}. Confined to the test's thread. */
class UnixSocketTest {
    /** Its name is short: the system takes about 100 bytes. */
    private Path folder;
    private Path path;
    private ServerConfig config;

    @BeforeEach
    void create() throws IOException {
        folder = Files.createTempDirectory("varve");
        path = folder.resolve("s");
        config = ServerConfig.defaults().with("maxmemory", "64mb").with("io-threads", "1").with("port", "0")
                .with("unixsocket", path.toString());
    }

    @AfterEach
    void delete() throws IOException {
        Files.deleteIfExists(path);
        Files.delete(folder);
    }

    private static VarveServer start(ServerConfig config) throws IOException {
        return VarveServer.start(config);
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "io_uring", "nio"})
    void clientsConnectAndAreListedByPath_andTheFileIsRemovedAtTheEnd(String transport) throws IOException {
        ServerConfig mine = config.with("transport", transport).with("unixsocketperm", "750");
        try (VarveServer server = start(mine);
                UnixClient client = new UnixClient(path);
                UnixClient other = new UnixClient(path)) {
            assertThat(server.port()).isZero();
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path))).isEqualTo("rwxr-x---");
            assertThat(client.execute("PING")).isEqualTo("+PONG");
            assertThat(other.execute("SET k v")).isEqualTo("+OK");
            assertThat(client.execute("GET k")).isEqualTo("v");
            String list = client.execute("CLIENT LIST");
            assertThat(list).hasLineCount(2).contains(" flags=U ");
            assertThat(list.lines()).allSatisfy(
                    line -> assertThat(line).contains(" addr=" + path + ":0 laddr=" + path + ":0 "));
            assertThat(client.execute("INFO server")).contains("\r\ntcp_port:0\r\n",
                    "\r\nlistener0:name=unix,bind=" + path);
            assertThat(client.execute("DEBUG SLEEP 0")).isEqualTo("+OK");
        }
        assertThat(path).doesNotExist();
    }

    @Test
    void aSocketThatAProcessHasLeftIsReplaced() throws IOException {
        try (ServerSocketChannel dead = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            dead.bind(UnixDomainSocketAddress.of(path));
        }
        assertThat(path).exists();
        try (VarveServer server = start(config); UnixClient client = new UnixClient(path)) {
            assertThat(client.execute("PING")).isEqualTo("+PONG");
            assertThat(server.tlsPort()).isZero();
        }
    }

    @Test
    void aFileThatIsNotASocketIsNotReplaced() throws IOException {
        Files.writeString(path, "mine");
        assertThatThrownBy(() -> start(config)).isInstanceOf(IOException.class)
                .hasMessage(
                        "Could not listen on unixsocket " + path + ": a file of this name exists and is not a socket");
        assertThat(path).hasContent("mine");
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    void theServerDoesNotStartWithoutItsSocket(String transport) {
        assertThatThrownBy(() -> start(config.with("transport", transport).with("unixsocket", folder + "/none/s")))
                .isInstanceOf(IOException.class).hasMessageStartingWith("Could not listen on unixsocket " + folder)
                .hasMessageContaining("No such file or directory");
        assertThatThrownBy(() -> start(config.with("unixsocketgroup", "no-such-group")))
                .isInstanceOf(IOException.class).hasMessageStartingWith("Could not listen on unixsocket " + path);
        assertThat(path).doesNotExist();
    }

    @Test
    void aPortBesideTheSocketIsOpened_andCanBeClosedAtRunTime() throws IOException {
        try (VarveServer server = start(config.with("port", Integer.toString(freePort())));
                UnixClient client = new UnixClient(path);
                RawClient tcp = new RawClient(server.port())) {
            assertThat(tcp.call("CONFIG", "SET", "port", "0").text()).isEqualTo("OK");
            int before = Integer.parseInt(client.execute("INFO server").replaceAll("(?s).*tcp_port:(\\d+).*", "$1"));
            assertThat(before).isZero();
            assertThat(tcp.call("PING").text()).isEqualTo("PONG");
            int next = freePort();
            assertThat(client.execute("CONFIG SET port " + next)).isEqualTo("+OK");
            try (RawClient again = new RawClient(next)) {
                assertThat(again.call("PING").text()).isEqualTo("PONG");
            }
            assertThat(server.port()).isEqualTo(next);
        }
    }

    private static int freePort() throws IOException {
        try (java.net.ServerSocket socket = new java.net.ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    @Test
    void itIsFoundInDir() throws IOException {
        ServerConfig mine = config.with("dir", folder.toString()).with("unixsocket", "s");
        try (VarveServer server = start(mine); UnixClient client = new UnixClient(path)) {
            assertThat(client.execute("PING")).isEqualTo("+PONG");
            assertThat(client.execute("CLIENT INFO")).contains("addr=" + path + ":0");
            assertThat(server.port()).isZero();
        }
    }
}
