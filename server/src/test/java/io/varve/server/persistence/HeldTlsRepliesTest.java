package io.varve.server.persistence;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import javax.net.ssl.SSLSocket;

import io.varve.server.ServerOnDisk;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.ServerExtension;
import io.varve.server.testing.TestCertificates;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** Encrypted replies wait for the disk too, as {@link HeldRepliesTest} says. Confined to the test's thread. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HeldTlsRepliesTest {
    private static final int FENCES = 5;
    /** More than the encryption takes at a time. */
    private static final int LARGE = 300_000;

    /** It fails the class if a buffer leaks. */
    @RegisterExtension
    static final ServerExtension servers = ServerExtension.withoutServer();

    @TempDir
    Path directory;

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    private static void send(Socket socket, String... command) throws IOException {
        socket.getOutputStream().write(RawClient.encode(command));
        socket.getOutputStream().flush();
    }

    private static String read(Socket socket, int length) throws IOException {
        return new String(socket.getInputStream().readNBytes(length), StandardCharsets.US_ASCII);
    }

    @Test
    void encryptedReplies_waitAndComeInOrder() throws Exception {
        TestCertificates certificates = TestCertificates.authorityIn(directory);
        try (ServerOnDisk server = ServerOnDisk.start(directory, "bind 127.0.0.1", "tls-port " + freePort(),
                "tls-auth-clients no", "tls-cert-file " + certificates.certificate("ca"),
                "tls-key-file " + certificates.key("ca"))) {
            // Beside a tls-port, port 0 means none.
            int port = server.server().tlsPort();
            try (Socket bytes = new Socket(InetAddress.getLoopbackAddress(), port);
                    SSLSocket writer = (SSLSocket) certificates.clientContext("").getSocketFactory()
                            .createSocket(bytes, "127.0.0.1", port, true);
                    SSLSocket other = (SSLSocket) certificates.clientContext("").getSocketFactory()
                            .createSocket("127.0.0.1", port)) {
                send(writer, "PING");
                assertThat(read(writer, 7)).isEqualTo("+PONG\r\n");
                String large = "x".repeat(LARGE);
                server.disk().hold();
                send(writer, "SET", "k", large);
                send(writer, "GET", "k");
                send(writer, "QUIT");
                server.disk().awaitHeld();
                for (int i = 0; i < FENCES; i++) {
                    send(other, "EXISTS", "k");
                    assertThat(read(other, 4)).isEqualTo(":1\r\n");
                }
                assertThat(bytes.getInputStream().available()).as("encrypted bytes that arrived").isZero();
                server.disk().release();
                String expected = "+OK\r\n$" + LARGE + "\r\n" + large + "\r\n+OK\r\n";
                assertThat(read(writer, expected.length())).isEqualTo(expected);
                assertThat(writer.getInputStream().read()).isEqualTo(-1);
            }
        }
    }
}
