package io.varve.experiments.run.ycsb;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;

import io.varve.server.VarveServer;
import io.varve.server.config.ServerConfig;
import io.varve.ycsb.VarveClient;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import site.ycsb.ByteIterator;
import site.ycsb.DBException;
import site.ycsb.Status;
import site.ycsb.StringByteIterator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The YCSB binding on a Varve that encrypts and has users. Confined to the test's thread. */
class EncryptedClientTest {
    private static final String PASSWORD = "password";

    @TempDir
    static Path folder;
    private static VarveServer server;

    @BeforeAll
    static void start() throws IOException, GeneralSecurityException, InterruptedException {
        Path keys = folder.resolve("keys.p12");
        Process keytool = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair", "-keystore", keys.toString(), "-storetype", "PKCS12", "-storepass", PASSWORD, "-alias",
                "server", "-keyalg", "EC", "-groupname", "secp256r1", "-dname", "CN=server", "-ext",
                "san=ip:127.0.0.1").redirectErrorStream(true).start();
        String output = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(keytool.waitFor()).as(output).isZero();
        KeyStore store = KeyStore.getInstance(keys.toFile(), PASSWORD.toCharArray());
        write("server.crt", "CERTIFICATE", store.getCertificate("server").getEncoded());
        write("server.key", "PRIVATE KEY", store.getKey("server", PASSWORD.toCharArray()).getEncoded());
        Path users = Files.writeString(folder.resolve("users.acl"),
                "user default on nopass ~* &* +@all\nuser bench on >sesame ~* +@all\n");
        server = VarveServer.start(ServerConfig.defaults().with("port", "0").with("maxmemory", "64mb")
                .with("tls-port", Integer.toString(freePort()))
                .with("tls-cert-file", folder.resolve("server.crt").toString())
                .with("tls-key-file", folder.resolve("server.key").toString()).with("tls-auth-clients", "no")
                .with("aclfile", users.toString()).validate());
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static void write(String file, String label, byte[] bytes) throws IOException {
        Files.writeString(folder.resolve(file), "-----BEGIN " + label + "-----\n"
                + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(bytes) + "\n-----END " + label
                + "-----\n");
    }

    private static VarveClient client(String... namesAndValues) throws DBException {
        Properties properties = new Properties();
        properties.setProperty("varve.host", "127.0.0.1");
        properties.setProperty("varve.port", Integer.toString(server.tlsPort()));
        properties.setProperty("varve.tls", "true");
        for (int i = 0; i < namesAndValues.length; i += 2) {
            properties.setProperty(namesAndValues[i], namesAndValues[i + 1]);
        }
        VarveClient client = new VarveClient();
        client.setProperties(properties);
        client.init();
        return client;
    }

    private static void writesAndReads(VarveClient client) throws DBException {
        Map<String, ByteIterator> values = new HashMap<>(Map.of("field0", new StringByteIterator("v".repeat(5000))));
        assertThat(client.insert("t", "user1", values)).isEqualTo(Status.OK);
        Map<String, ByteIterator> read = new HashMap<>();
        assertThat(client.read("t", "user1", null, read)).isEqualTo(Status.OK);
        assertThat(read.get("field0")).hasToString("v".repeat(5000));
        client.cleanup();
    }

    @Test
    void anEncryptedConnectionWithAUserWritesAndReads() throws DBException {
        String authority = folder.resolve("server.crt").toString();
        writesAndReads(client("varve.tls.ca", authority, "varve.user", "bench", "varve.password", "sesame"));
        writesAndReads(client("varve.tls.ca", authority, "varve.tls.verify", "ca"));
        writesAndReads(client("varve.tls.verify", "none"));
    }

    @Test
    void anUnknownAuthorityAndAWrongUserAreRefused() {
        assertThatThrownBy(EncryptedClientTest::client).isInstanceOf(DBException.class)
                .hasMessageContaining("no connection to varve.host=127.0.0.1");
        assertThatThrownBy(() -> client("varve.tls.verify", "none", "varve.user", "bench", "varve.password", "barley"))
                .isInstanceOf(DBException.class).hasMessageContaining("WRONGPASS").message().doesNotContain("barley");
        assertThatThrownBy(() -> client("varve.tls", "false")).isInstanceOf(DBException.class)
                .hasMessageContaining("no connection to");
    }
}
