package io.varve.server.process;

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.varve.server.Main;
import io.varve.server.VarveServer;
import io.varve.server.config.ServerConfig;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.RedisTools;
import io.varve.server.testing.ServerExtension;
import io.varve.server.testing.TestCertificates;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisConnectionException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/** Tests encrypted connections, with and without client certificates. Confined to the test's thread. */
class TlsIT {
    @RegisterExtension
    static final ServerExtension servers = ServerExtension.withoutServer();

    private static final int TIMEOUT_MILLIS = 20_000;

    @TempDir
    static Path folder;

    private static TestCertificates certificates;
    private static VarveServer server;

    @BeforeAll
    static void start() throws Exception {
        certificates = TestCertificates.in(folder);
        server = servers.start(settings());
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static ServerConfig settings() throws IOException {
        return ServerConfig.defaults().with("port", "0").with("tls-port", freePort())
                .with("io-threads", "2").with("maxmemory", "256mb")
                .with("tls-cert-file", certificates.certificate("server").toString())
                .with("tls-key-file", certificates.key("server").toString())
                .with("tls-ca-cert-file", certificates.certificate("ca").toString());
    }

    private static String freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return "" + socket.getLocalPort();
        }
    }

    // --- clients

    private static RedisClient lettuce(String alias) {
        SslOptions.Builder ssl = SslOptions.builder().jdkSslProvider()
                .trustManager(certificates.certificate("ca").toFile());
        if (!alias.isEmpty()) {
            ssl.keyManager(certificates.certificate(alias).toFile(), certificates.key(alias).toFile(), new char[0]);
        }
        RedisClient client = RedisClient.create(RedisURI.builder().withHost("127.0.0.1").withPort(server.tlsPort())
                .withSsl(true).withTimeout(Duration.ofSeconds(20)).build());
        client.setOptions(ClientOptions.builder().autoReconnect(false).sslOptions(ssl.build()).build());
        return client;
    }

    // Its successor takes files alone, and no context.
    @SuppressWarnings("deprecation")
    private static Jedis jedis(String alias) {
        return new Jedis(new HostAndPort("127.0.0.1", server.tlsPort()), DefaultJedisClientConfig.builder().ssl(true)
                .socketTimeoutMillis(TIMEOUT_MILLIS)
                .sslSocketFactory(certificates.clientContext(alias).getSocketFactory()).build());
    }

    @Test
    void lettuceComesWithACertificate() {
        try (RedisClient client = lettuce("client"); StatefulRedisConnection<String, String> redis = client.connect()) {
            String large = "0123456789".repeat(300_000);
            assertThat(redis.sync().set("lettuce", large)).isEqualTo("OK");
            assertThat(redis.sync().get("lettuce")).isEqualTo(large);
            assertThat(redis.sync().info("server")).contains("server_name:varve");
        }
    }

    @Test
    void clientsWithoutATrustedCertificateAreRejected() {
        for (String alias : List.of("", "stranger")) {
            try (RedisClient client = lettuce(alias)) {
                assertThatThrownBy(client::connect).isInstanceOf(RedisConnectionException.class);
            }
            try (Jedis jedis = jedis(alias)) {
                assertThatThrownBy(() -> jedis.get("k")).isInstanceOf(JedisConnectionException.class);
            } catch (JedisConnectionException alreadyWhenItConnects) {
                assertThat(alreadyWhenItConnects).hasMessageNotContaining("timed out");
            }
        }
    }

    @Test
    void jedisComesWithACertificate() {
        try (Jedis jedis = jedis("client")) {
            assertThat(jedis.set("jedis", "v")).isEqualTo("OK");
            assertThat(jedis.get("jedis")).isEqualTo("v");
            var pipeline = jedis.pipelined();
            for (int i = 0; i < 10_000; i++) {
                pipeline.incr("n");
            }
            assertThat(pipeline.syncAndReturnAll()).hasSize(10_000).last().isEqualTo(10_000L);
        }
    }

    @Test
    void messagesArriveThroughIt() throws InterruptedException {
        int count = 1000;
        String large = "m".repeat(300_000);
        BlockingQueue<String> heard = new LinkedBlockingQueue<>();
        try (RedisClient client = lettuce("client");
                StatefulRedisPubSubConnection<String, String> listener = client.connectPubSub();
                Jedis publisher = jedis("client")) {
            listener.addListener(new RedisPubSubAdapter<>() {
                @Override
                public void message(String channel, String message) {
                    heard.add(message);
                }
            });
            listener.sync().subscribe("tls");
            for (int i = 0; i < count; i++) {
                assertThat(publisher.publish("tls", "" + i)).isEqualTo(1);
            }
            assertThat(publisher.publish("tls", large)).isEqualTo(1);
            for (int i = 0; i < count; i++) {
                assertThat(heard.poll(20, TimeUnit.SECONDS)).isEqualTo("" + i);
            }
            assertThat(heard.poll(20, TimeUnit.SECONDS)).isEqualTo(large);
        }
    }

    @Test
    void redisCliSpeaksIt() throws Exception {
        RedisTools.require();
        List<String> command = new ArrayList<>(List.of("redis-cli", "-h", "127.0.0.1", "-p", "" + server.tlsPort()));
        Process help = new ProcessBuilder("redis-cli", "--help").redirectErrorStream(true).start();
        if (new String(help.getInputStream().readAllBytes(), StandardCharsets.UTF_8).contains("--tls ")) {
            command.addAll(List.of("--tls", "--cacert", certificates.certificate("ca").toString(), "--cert",
                    certificates.certificate("client").toString(), "--key", certificates.key("client").toString()));
            command.addAll(List.of("SET", "cli", "v"));
            Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
            assertThat(output).isEqualTo("OK\n");
        }
    }

    // --- by hand

    private static SSLSocket connect(VarveServer to, SSLContext context, String... protocols) throws IOException {
        SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket("127.0.0.1", to.tlsPort());
        socket.setSoTimeout(TIMEOUT_MILLIS);
        if (protocols.length > 0) {
            socket.setEnabledProtocols(protocols);
        }
        return socket;
    }

    private static String execute(SSLSocket socket, String command) throws IOException {
        OutputStream out = socket.getOutputStream();
        out.write((command + "\r\n").getBytes(StandardCharsets.US_ASCII));
        out.flush();
        return String.valueOf(new BufferedReader(new InputStreamReader(socket.getInputStream(),
                StandardCharsets.US_ASCII)).readLine());
    }

    private static String nameOfServer(SSLSocket socket) throws IOException {
        return TestCertificates.nameOf(socket.getSession().getPeerCertificates()[0]);
    }

    @Test
    void withoutAPlainPortOnlyTlsIsSpoken() throws IOException {
        assertThat(server.port()).isZero();
        try (RawClient plain = new RawClient(server.tlsPort())) {
            assertThat(plain.send("PING\r\n").readToEnd()).doesNotContain("PONG");
        }
        try (SSLSocket socket = connect(server, certificates.clientContext("client"))) {
            assertThat(execute(socket, "PING")).isEqualTo("+PONG");
            assertThat(socket.getSession().getProtocol()).isEqualTo("TLSv1.3");
            assertThat(execute(socket, "QUIT")).isEqualTo("+OK");
            assertThat(socket.getInputStream().read()).isEqualTo(-1);
        }
        try (SSLSocket socket = connect(server, certificates.clientContext("client"))) {
            assertThat(execute(socket, "*1\r\n$x")).isEqualTo("-ERR Protocol error: invalid bulk length");
            assertThat(socket.getInputStream().read()).isEqualTo(-1);
        }
    }

    @ParameterizedTest
    @CsvSource({"no,''", "optional,''", "optional,client", "no,stranger"})
    void clientCertificatesAreRequestedAsConfigured(String requested, String alias) throws IOException {
        try (VarveServer other = servers.start(settings().with("tls-auth-clients", requested));
                SSLSocket socket = connect(other, certificates.clientContext(alias))) {
            assertThat(execute(socket, "PING")).isEqualTo("+PONG");
        }
    }

    @Test
    void caCertificatesMayBeADirectory() throws IOException {
        Path authorities = Files.createDirectory(folder.resolve("authorities"));
        Files.copy(certificates.certificate("ca"), authorities.resolve("1.pem"));
        Files.copy(certificates.certificate("other-ca"), authorities.resolve("2.pem"));
        Files.writeString(authorities.resolve("README"), "nothing");
        ServerConfig config = settings().with("tls-ca-cert-file", "").with("tls-ca-cert-dir", authorities.toString());
        try (VarveServer other = servers.start(config);
                SSLSocket one = connect(other, certificates.clientContext("client"));
                SSLSocket two = connect(other, certificates.clientContext("stranger"))) {
            assertThat(execute(one, "PING")).isEqualTo("+PONG");
            assertThat(execute(two, "PING")).isEqualTo("+PONG");
        }
    }

    @Test
    void protocolsAndSuitesAreThoseConfigured() throws IOException {
        ServerConfig config = settings().with("tls-protocols", "TLSv1.2").with("tls-ciphers",
                "ECDHE-ECDSA-AES256-GCM-SHA384");
        try (VarveServer other = servers.start(config);
                SSLSocket socket = connect(other, certificates.clientContext("client"))) {
            assertThat(execute(socket, "PING")).isEqualTo("+PONG");
            assertThat(socket.getSession().getProtocol()).isEqualTo("TLSv1.2");
            assertThat(socket.getSession().getCipherSuite()).isEqualTo("TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384");
        }
        try (VarveServer other = servers.start(settings().with("tls-ciphersuites", "TLS_CHACHA20_POLY1305_SHA256"));
                SSLSocket socket = connect(other, certificates.clientContext("client"))) {
            assertThat(execute(socket, "PING")).isEqualTo("+PONG");
            assertThat(socket.getSession().getCipherSuite()).isEqualTo("TLS_CHACHA20_POLY1305_SHA256");
        }
    }

    @Test
    void certificatesAreRenewedWithoutARestart() throws IOException {
        Path certificate = Files.copy(certificates.certificate("server"), folder.resolve("current.crt"));
        Path key = Files.copy(certificates.key("server"), folder.resolve("current.key"));
        ServerConfig config = settings().with("tls-cert-file", certificate.toString()).with("tls-key-file",
                key.toString());
        try (VarveServer other = servers.start(config);
                SSLSocket before = connect(other, certificates.clientContext("client"))) {
            assertThat(nameOfServer(before)).isEqualTo("CN=server");
            Files.copy(certificates.certificate("renewed"), certificate,
                    java.nio.file.StandardCopyOption.REPLACE_EXISTING);
            // The key is still the old one.
            assertThat(execute(before, "CONFIG SET tls-cert-file " + certificate)).startsWith("-ERR CONFIG SET failed")
                    .contains("tls-key-file " + key + ": does not belong to the certificate in " + certificate);
            try (SSLSocket still = connect(other, certificates.clientContext("client"))) {
                assertThat(nameOfServer(still)).isEqualTo("CN=server");
            }
            Files.copy(certificates.key("renewed"), key, java.nio.file.StandardCopyOption.REPLACE_EXISTING);
            assertThat(execute(before, "CONFIG SET tls-cert-file " + certificate)).isEqualTo("+OK");
            try (SSLSocket after = connect(other, certificates.clientContext("client"))) {
                assertThat(nameOfServer(after)).isEqualTo("CN=renewed");
                assertThat(execute(after, "PING")).isEqualTo("+PONG");
            }
            assertThat(execute(before, "PING")).isEqualTo("+PONG");
        }
    }

    /**
     * Output that waits for a client that does not read is neither encrypted nor copied: the limit holds, and others
     * are served.
     */
    @Test
    void aClientThatDoesNotReadIsDisconnectedAtItsLimit() throws IOException {
        int large = 32 << 20;
        ServerConfig config = settings().with("client-output-buffer-limit", "normal 16mb 0 0");
        try (VarveServer other = servers.start(config);
                SSLSocket reader = connect(other, certificates.clientContext("client"));
                SSLSocket lazy = connect(other, certificates.clientContext("client"))) {
            assertThat(execute(reader, "SETRANGE large " + (large - 1) + " x")).isEqualTo(":" + large);
            lazy.getOutputStream().write("GET large\r\n".getBytes(StandardCharsets.US_ASCII));
            lazy.getOutputStream().flush();
            assertThat(bytesUntilTheEnd(lazy)).isLessThan(large / 2);
            assertThat(execute(reader, "PING")).isEqualTo("+PONG");
        }
    }

    /**
     * The close notification is encrypted, for which there is no memory: until that is given up, its commands are
     * dropped.
     */
    @Test
    void aKilledClientThatDoesNotReadRunsNoMoreCommands() throws IOException {
        int piece = 16 << 10;
        try (VarveServer other = servers.start(settings().with("port", freePort()));
                RawClient admin = new RawClient(other.port());
                SSLSocket lazy = connect(other, certificates.clientContext("client"))) {
            admin.call("SETRANGE", "piece", "" + (piece - 1), "x");
            String id = execute(lazy, "CLIENT ID").substring(1);
            // So much waits when the kernel takes no more, and so little that its commands are still read.
            while (waitingBytes(admin, id) < 4L * piece) {
                lazy.getOutputStream().write("GET piece\r\n".getBytes(StandardCharsets.US_ASCII));
                lazy.getOutputStream().flush();
            }
            assertThat(admin.call("CLIENT", "KILL", "ID", id).text()).isEqualTo("1");
            lazy.getOutputStream().write("SET late 1\r\n".getBytes(StandardCharsets.US_ASCII));
            lazy.getOutputStream().flush();
            await().atMost(20, TimeUnit.SECONDS).until(() -> admin.info("connected_clients").equals("1"));
            assertThat(admin.call("EXISTS", "late").text()).isEqualTo("0");
        }
    }

    private static long waitingBytes(RawClient admin, String id) throws IOException {
        String line = admin.call("CLIENT", "LIST", "ID", id).text();
        return Long.parseLong(line.replaceAll("(?s).* omem=([0-9]+) .*", "$1"));
    }

    private static long bytesUntilTheEnd(SSLSocket socket) {
        long bytes = 0;
        byte[] some = new byte[1 << 16];
        try {
            for (int read = socket.getInputStream().read(some); read >= 0; read = socket.getInputStream().read(some)) {
                bytes += read;
            }
        } catch (IOException disconnected) {
            assertThat(disconnected).isNotInstanceOf(java.net.SocketTimeoutException.class);
        }
        return bytes;
    }

    @Test
    void aLongReplyArrivesWholeThoughItsReaderIsSlow() throws IOException {
        int large = 24 << 20;
        try (SSLSocket socket = connect(server, certificates.clientContext("client"))) {
            assertThat(execute(socket, "SETRANGE slow " + (large - 1) + " x")).isEqualTo(":" + large);
            socket.getOutputStream()
                    .write("GET slow\r\nGET slow\r\nPING\r\nQUIT\r\n".getBytes(StandardCharsets.US_ASCII));
            socket.getOutputStream().flush();
            String head = "$" + large + "\r\n";
            assertThat(bytesUntilTheEnd(socket))
                    .isEqualTo(2L * (head.length() + large + 2) + "+PONG\r\n+OK\r\n".length());
        }
    }

    // --- what cannot be

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"tls-cert-file | none.crt | none.crt: cannot be read: there is no such file",
            "tls-cert-file | '' | tls-cert-file \"\": is required",
            "tls-cert-file | server.key | contains no certificate",
            "tls-key-file | server.crt | server.crt: contains no private key",
            "tls-key-file | client.key | client.key: does not belong to the certificate",
            "tls-ca-cert-file | none.crt | tls-ca-cert-file", "tls-ca-cert-file | '' | tls-auth-clients yes: needs",
            "tls-ca-cert-dir | none | tls-ca-cert-dir",
            "tls-protocols | SSLv3 | tls-protocols SSLv3: SSLv3 is not supported",
            "tls-ciphers | NOSUCH-CIPHER | tls-ciphers NOSUCH-CIPHER",
            "tls-ciphersuites | TLS_X | tls-ciphersuites TLS_X",
            "tls-cert-file | damaged.crt | damaged.crt: contains a damaged certificate",
            "tls-key-file | damaged.key | damaged.key: contains a private key that is damaged"})
    void aWrongSettingIsReportedInOneLineAndNothingStarts(String setting, String value, String message)
            throws IOException {
        Files.writeString(folder.resolve("damaged.crt"), TestCertificates.pem("CERTIFICATE", new byte[100]));
        Files.writeString(folder.resolve("damaged.key"), TestCertificates.pem("PRIVATE KEY", new byte[100]));
        ServerConfig config = settings();
        List<String> arguments = new ArrayList<>(List.of("--dir", folder.toString()));
        for (String name : List.of("port", "tls-port", "maxmemory", "tls-cert-file", "tls-key-file",
                "tls-ca-cert-file")) {
            arguments.addAll(List.of("--" + name, config.text(name)));
        }
        arguments.addAll(List.of("--" + setting, value));
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        PrintStream nowhere = new PrintStream(new ByteArrayOutputStream(), true, StandardCharsets.UTF_8);
        int status = Main.run(arguments, nowhere, new PrintStream(err, true, StandardCharsets.UTF_8));
        assertThat(err.toString(StandardCharsets.UTF_8)).startsWith("varve: tls-").contains(message).hasLineCount(1);
        assertThat(status).isEqualTo(2);
    }
}
