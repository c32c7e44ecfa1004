package io.varve.server.net;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import javax.net.ssl.SSLSocket;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.varve.memory.Cache;
import io.varve.server.command.ServerState;
import io.varve.server.command.registry.CommandFamilies;
import io.varve.server.config.ServerConfig;
import io.varve.server.testing.TestCertificates;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/** Tests encrypted connections beyond the heap budget. Confined to the test's thread. */
class TlsBoundTest {
    private static final int MAX_CONNECTIONS = 2;
    private static final int TIMEOUT_MILLIS = 20_000;

    @TempDir
    static Path folder;

    private static TestCertificates certificates;

    private final Logger logger = (Logger) LoggerFactory.getLogger("io.varve.server.net");
    private final Level levelBefore = logger.getLevel();
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();
    private Cache cache;
    private ServerState server;
    private TlsHeapBudget budget;
    private NetworkServer network;

    @BeforeAll
    static void makeCertificates() throws Exception {
        certificates = TestCertificates.authorityIn(folder);
    }

    @BeforeEach
    void start() throws IOException {
        log.start();
        logger.addAppender(log);
        logger.setLevel(Level.WARN);
        ServerConfig config = ServerConfig.defaults().with("port", "0").with("tls-port", freePort())
                .with("io-threads", "2").with("maxmemory", "64mb").with("tls-auth-clients", "no")
                .with("tls-cert-file", certificates.certificate("ca").toString())
                .with("tls-key-file", certificates.key("ca").toString());
        cache = Cache.open(config.cacheConfig());
        server = new ServerState(cache, config, config.cacheConfig().ticker(), _ -> {});
        budget = new TlsHeapBudget(server.argumentMemory(), MAX_CONNECTIONS);
        network = NetworkServer.startWith(server, CommandFamilies.table(server), budget);
    }

    @AfterEach
    void stop() {
        network.close();
        cache.close();
        logger.detachAppender(log);
        logger.setLevel(levelBefore);
    }

    private static String freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return "" + socket.getLocalPort();
        }
    }

    private SSLSocket connect() throws IOException {
        SSLSocket socket = (SSLSocket) certificates.clientContext("").getSocketFactory().createSocket("127.0.0.1",
                network.tlsPort());
        socket.setSoTimeout(TIMEOUT_MILLIS);
        return socket;
    }

    private static void isServed(SSLSocket socket) throws IOException {
        socket.getOutputStream().write("PING\r\n".getBytes(StandardCharsets.US_ASCII));
        assertThat(new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII))
                .readLine()).isEqualTo("+PONG");
    }

    private void isClosed() throws IOException {
        try (SSLSocket socket = connect()) {
            assertThatThrownBy(socket::startHandshake).isInstanceOf(IOException.class)
                    .isNotInstanceOf(java.net.SocketTimeoutException.class);
        }
    }

    private List<String> logged() {
        return log.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
    }

    @Test
    void thoseBeyondItAreClosedAndOthersServed() throws IOException {
        try (SSLSocket first = connect()) {
            isServed(first);
            try (SSLSocket second = connect()) {
                isServed(second);
                isClosed();
                isClosed();
                assertThat(server.telemetry().connectionsRejected()).isEqualTo(2);
                assertThat(budget.connections()).isEqualTo(MAX_CONNECTIONS);
                isServed(first);
                isServed(second);
            }
            await().until(() -> budget.connections() == 1);
            try (SSLSocket third = connect()) {
                isServed(third);
                isClosed();
            }
        }
        await().until(() -> budget.connections() == 0);
        await().until(() -> server.argumentMemory().reservedBytes() == 0);
        assertThat(server.telemetry().connectionsRejected()).isEqualTo(3);
        assertThat(logged().getFirst()).startsWith("tls-port ")
                .contains(": at most 2 encrypted connections at a time (maxclients 10000), because each needs 50 KB");
        assertThat(logged().get(1))
                .contains(" is closed: the heap budget for encrypted connections is used up (and 0 others");
    }

    /** A client takes an engine without a handshake, and without TLS: neither keeps it from others. */
    @Test
    void clientsWithoutAHandshakeCountUntilTheyDisconnect() throws IOException {
        try (SSLSocket first = connect()) {
            isServed(first);
            try (Socket silent = new Socket(InetAddress.getLoopbackAddress(), network.tlsPort())) {
                await().until(() -> budget.connections() == MAX_CONNECTIONS);
                isClosed();
                assertThat(silent.isConnected()).isTrue();
            }
            await().until(() -> budget.connections() == 1);
            try (Socket stranger = new Socket(InetAddress.getLoopbackAddress(), network.tlsPort())) {
                stranger.setSoTimeout(TIMEOUT_MILLIS);
                stranger.getOutputStream().write("PING and nothing of TLS\r\n".getBytes(StandardCharsets.US_ASCII));
                // An alert, and the end.
                stranger.getInputStream().readAllBytes();
                await().until(() -> budget.connections() == 1);
            }
            try (SSLSocket second = connect()) {
                isServed(second);
                isServed(first);
            }
        }
    }
}
