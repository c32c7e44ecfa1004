package io.varve.proxy;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.SecureRandom;
import java.security.cert.Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManagerFactory;

import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotMap;
import io.varve.cluster.map.SlotRange;
import io.varve.proxy.map.BlockingConnection;
import io.varve.proxy.testing.RedisMember;
import io.varve.proxy.testing.TestProxy;
import io.varve.server.VarveServer;
import io.varve.server.clustering.ClusterState;
import io.varve.server.config.ConfigException;
import io.varve.server.config.ServerConfig;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/** Encrypted connections of clients. Confined to the test's thread. */
@Timeout(120)
class ProxyTlsIT {
    private static final char[] PASSWORD = "password".toCharArray();

    @TempDir
    private static Path folder;

    private static Path certificateFile;
    private static Path keyFile;
    private static SSLContext trusting;

    @BeforeAll
    static void createCertificate() throws Exception {
        Path store = folder.resolve("store.p12");
        Process keytool = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair", "-alias", "proxy", "-keyalg", "EC", "-dname", "CN=proxy", "-ext", "san=ip:127.0.0.1",
                "-storepass", new String(PASSWORD), "-keystore", store.toString()).redirectErrorStream(true).start();
        String text = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(keytool.waitFor()).as(text).isZero();
        KeyStore keys = KeyStore.getInstance(store.toFile(), PASSWORD);
        Certificate certificate = keys.getCertificate("proxy");
        certificateFile = pem("certificate", "CERTIFICATE", certificate.getEncoded());
        keyFile = pem("key", "PRIVATE KEY", keys.getKey("proxy", PASSWORD).getEncoded());
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        trusted.setCertificateEntry("proxy", certificate);
        TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
        trust.init(trusted);
        trusting = SSLContext.getInstance("TLS");
        trusting.init(null, trust.getTrustManagers(), new SecureRandom());
    }

    private static Path pem(String name, String label, byte[] content) throws IOException {
        return Files.writeString(folder.resolve(name + ".pem"), "-----BEGIN " + label + "-----\n"
                + Base64.getMimeEncoder().encodeToString(content) + "\n-----END " + label + "-----\n");
    }

    private static String[] options(int tlsPort) {
        return new String[] {"--tls-port", Integer.toString(tlsPort), "--tls-cert-file", certificateFile.toString(),
                "--tls-key-file", keyFile.toString(), "--port", Integer.toString(RedisMember.freePort())};
    }

    private static SSLSocket connect(SSLContext context, int port) throws IOException {
        SSLSocketFactory factory = context.getSocketFactory();
        SSLSocket socket = (SSLSocket) factory.createSocket("127.0.0.1", port);
        socket.setSoTimeout(20_000);
        return socket;
    }

    private static void send(SSLSocket socket, String request) throws IOException {
        socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
    }

    private static void expect(SSLSocket socket, String reply) throws IOException {
        byte[] received = socket.getInputStream().readNBytes(reply.length());
        assertThat(new String(received, StandardCharsets.US_ASCII)).isEqualTo(reply);
    }

    @Test
    void pipelinesAndLongValues_passEncrypted() throws Exception {
        int tlsPort = RedisMember.freePort();
        String value = "0123456789".repeat(300_000);
        try (TestProxy proxy = TestProxy.overServers(2, options(tlsPort));
                SSLSocket client = connect(trusting, tlsPort)) {
            StringBuilder requests = new StringBuilder();
            StringBuilder replies = new StringBuilder();
            for (int i = 0; i < 500; i++) {
                requests.append("SET key").append(i).append(" v").append(i).append("\r\nGET key").append(i)
                        .append("\r\n");
                replies.append("+OK\r\n$").append(Integer.toString(i).length() + 1).append("\r\nv").append(i)
                        .append("\r\n");
            }
            send(client, requests.toString());
            expect(client, replies.toString());
            send(client, "*3\r\n$3\r\nSET\r\n$5\r\nlarge\r\n$" + value.length() + "\r\n" + value + "\r\n");
            expect(client, "+OK\r\n");
            send(client, "GET large\r\nPING\r\n");
            expect(client, "$" + value.length() + "\r\n" + value + "\r\n+PONG\r\n");
            assertThat(proxy.call("GET", "key7").text()).as("without encryption").isEqualTo("v7");
            send(client, "QUIT\r\n");
            expect(client, "+OK\r\n");
            assertThat(client.getInputStream().read()).isEqualTo(-1);
        }
    }

    @Test
    void clientsWithoutTls_orWithoutTrust_disturbNoOther() throws Exception {
        int tlsPort = RedisMember.freePort();
        try (TestProxy proxy = TestProxy.overServers(1, options(tlsPort));
                SSLSocket client = connect(trusting, tlsPort)) {
            try (Socket plain = new Socket(InetAddress.getLoopbackAddress(), tlsPort)) {
                plain.setSoTimeout(20_000);
                plain.getOutputStream().write("PING\r\nPING\r\n".getBytes(StandardCharsets.US_ASCII));
                InputStream in = plain.getInputStream();
                assertThat(in.readAllBytes()).doesNotContain('+');
            }
            try (SSLSocket distrusting = connect(SSLContext.getDefault(), tlsPort)) {
                assertThatThrownBy(distrusting::startHandshake).isInstanceOf(SSLHandshakeException.class);
            }
            try (SSLSocket leaving = connect(trusting, tlsPort)) {
                send(leaving, "PING\r\n");
                expect(leaving, "+PONG\r\n");
            }
            send(client, "PING\r\n");
            expect(client, "+PONG\r\n");
            // This one, and the connection that asks.
            await().atMost(20, TimeUnit.SECONDS).until(() -> proxy.info("connected_clients") == 2);
        }
    }

    @Test
    void anEncryptedClientThatDoesNotRead_isNotServedFurther_andLosesNothing() throws Exception {
        int tlsPort = RedisMember.freePort();
        int requests = 40;
        String value = "v".repeat(1 << 20);
        String[] options = java.util.Arrays.copyOf(options(tlsPort), 10);
        options[8] = "--max-pipeline";
        options[9] = "8";
        try (TestProxy proxy = TestProxy.overServers(1, options);
                SSLSocket slow = connect(trusting, tlsPort);
                SSLSocket client = connect(trusting, tlsPort)) {
            proxy.call("SET", "large", value);
            send(slow, "GET large\r\n".repeat(requests));
            for (int i = 0; i < 200; i++) {
                send(client, "PING\r\nEXISTS large\r\n");
                expect(client, "+PONG\r\n:1\r\n");
            }
            // Without a limit all of them would have been sent to the member.
            assertThat(proxy.info("total_commands_processed")).isLessThan(requests + 400);
            assertThat(proxy.info("slow_clients_disconnected")).isZero();
            for (int i = 0; i < requests; i++) {
                expect(slow, "$" + value.length() + "\r\n" + value + "\r\n");
            }
        }
    }

    /** A Varve member that is reached by TLS alone, with a password, and that asks for a certificate. */
    private static VarveServer member(int tlsPort, String authenticated) throws IOException {
        return VarveServer.start(memberConfig(tlsPort, authenticated).with("dir", folder.toString()).validate());
    }

    private static ServerConfig memberConfig(int tlsPort, String authenticated) {
        return ServerConfig.defaults().with("maxmemory", "64mb").with("port", "0")
                .with("tls-port", Integer.toString(tlsPort)).with("tls-cert-file", certificateFile.toString())
                .with("tls-key-file", keyFile.toString()).with("tls-ca-cert-file", certificateFile.toString())
                .with("tls-auth-clients", authenticated).with("requirepass", "inner").with("save", "");
    }

    /** A member of a cluster that the test controls. */
    private static VarveServer clusterMember(int tlsPort) throws IOException {
        return VarveServer.start(memberConfig(tlsPort, "no").with("cluster-enabled", "yes")
                .with("cluster-controllers", "127.0.0.1:1").with("tls-replication", "yes").with("masterauth", "inner")
                .with("dir", Files.createDirectories(folder.resolve("member" + tlsPort)).toString()).validate());
    }

    private static ClusterState state(VarveServer server) {
        return Objects.requireNonNull(server.cluster());
    }

    @Test
    void copiesOfHotKeys_areReadByTls() throws Exception {
        int first = RedisMember.freePort();
        try (VarveServer one = clusterMember(first)) {
            int second = RedisMember.freePort();
            try (VarveServer two = clusterMember(second)) {
                String owner = state(one).view().me().id();
                String holder = state(two).view().me().id();
                SlotMap map = SlotMap.EMPTY.toBuilder().member(new Member(owner, "127.0.0.1", first, 1, null))
                        .member(new Member(holder, "127.0.0.1", second, 1, null))
                        .owner(new SlotRange(0, HashSlot.COUNT - 2), owner)
                        .owner(new SlotRange(HashSlot.COUNT - 1, HashSlot.COUNT - 1), holder).build(1);
                state(one).install(map, true);
                state(two).install(map, true);
                try (TestProxy proxy = TestProxy.at("127.0.0.1:" + first, List.of(), memberOptions())) {
                    assertThat(proxy.call("SET", "hot", "value").text()).isEqualTo("OK");
                    assertThat(proxy.call("VARVE.REPLICATE", "hot", "1").integer()).isEqualTo(1);
                    await().atMost(60, TimeUnit.SECONDS).until(() -> {
                        assertThat(proxy.call("GET", "hot").text()).isEqualTo("value");
                        return proxy.info("copy_reads") > proxy.info("copy_fallbacks");
                    });
                }
            }
        }
    }

    private static String[] memberOptions(String... more) {
        List<String> options = new ArrayList<>(List.of("--member-tls", "yes", "--member-tls-ca-cert-file",
                certificateFile.toString(), "--member-user", "default", "--member-password", "inner"));
        options.addAll(List.of(more));
        return options.toArray(String[]::new);
    }

    @Test
    void membersAreReachedByTls_withUserAndPassword() throws Exception {
        int first = RedisMember.freePort();
        String value = "0123456789".repeat(300_000);
        try (VarveServer one = member(first, "no");
                TestProxy proxy = TestProxy.at("127.0.0.1:" + first, List.of(), memberOptions());
                BlockingConnection client = proxy.connect();
                BlockingConnection listener = proxy.connect()) {
            assertThat(one.port()).as("without TLS").isZero();
            for (int i = 0; i < 200; i++) {
                client.send("SET", "key" + i, "v" + i);
                client.send("GET", "key" + i);
            }
            for (int i = 0; i < 200; i++) {
                assertThat(client.read().text()).isEqualTo("OK");
                assertThat(client.read().text()).isEqualTo("v" + i);
            }
            assertThat(client.call("SET", "large", value).text()).isEqualTo("OK");
            assertThat(client.call("GET", "large").text()).isEqualTo(value);
            assertThat(client.call("DBSIZE").integer()).isEqualTo(201);
            // Connections of a client's own.
            assertThat(client.call("BLPOP", "list", "0.01").text()).isNull();
            listener.send("SUBSCRIBE", "channel");
            assertThat(listener.read().elements()).hasSize(3);
            assertThat(client.call("PUBLISH", "channel", "hello").integer()).isEqualTo(1);
            assertThat(listener.read().elements().getLast().text()).isEqualTo("hello");
        }
    }

    @Test
    void membersThatAskForACertificate_getIt() throws Exception {
        int port = RedisMember.freePort();
        try (VarveServer _ = member(port, "yes");
                TestProxy proxy = TestProxy.at("127.0.0.1:" + port, List.of(), memberOptions("--member-tls-cert-file",
                        certificateFile.toString(), "--member-tls-key-file", keyFile.toString()))) {
            assertThat(proxy.call("SET", "key", "value").text()).isEqualTo("OK");
            assertThat(proxy.call("GET", "key").text()).isEqualTo("value");
        }
        try (VarveServer _ = member(port, "yes");
                TestProxy proxy = TestProxy.at("127.0.0.1:" + port, List.of(),
                        memberOptions("--member-kind", "plain"))) {
            assertThat(proxy.call("GET", "key").text()).startsWith("CLUSTERDOWN");
        }
    }

    @Test
    void membersThatAreNotTrusted_areNotUsed() throws Exception {
        int port = RedisMember.freePort();
        try (VarveServer _ = member(port, "no");
                TestProxy proxy = TestProxy.at("127.0.0.1:" + port, List.of(), "--member-tls", "yes",
                        "--member-password", "inner", "--member-kind", "plain")) {
            // The authorities are those of the JDK.
            assertThat(proxy.call("SET", "key", "value").text()).startsWith("CLUSTERDOWN");
        }
    }

    @Test
    void wrongFilesForMembers_areNamed() {
        List<String> arguments = new ArrayList<>(List.of("--members", "h:1", "--member-tls", "yes",
                "--member-tls-ca-cert-file", "/nonexistent/file"));
        assertThatThrownBy(() -> ProxySettings.read(arguments)).isInstanceOf(ConfigException.class)
                .hasMessageStartingWith("member-tls-ca-cert-file /nonexistent/file: cannot be read: there is no such");
        arguments.addAll(List.of("--member-tls-ca-cert-file", "", "--member-tls-cert-file",
                certificateFile.toString()));
        assertThatThrownBy(() -> ProxySettings.read(arguments)).isInstanceOf(ConfigException.class)
                .hasMessageStartingWith("member-tls-key-file");
    }

    @Test
    void wrongFiles_areNamed() {
        List<String> arguments = new ArrayList<>(List.of("--members", "h:1", "--tls-port", "1"));
        assertThatThrownBy(() -> ProxySettings.read(arguments)).isInstanceOf(ConfigException.class)
                .hasMessage("tls-cert-file \"\": is required if tls-port is set");
        arguments.addAll(List.of("--tls-cert-file", "/nonexistent/file"));
        assertThatThrownBy(() -> ProxySettings.read(arguments)).isInstanceOf(ConfigException.class)
                .hasMessageStartingWith("tls-cert-file /nonexistent/file: cannot be read: there is no such file");
    }
}
