package io.varve.server;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.varve.server.config.ServerConfig;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests that passwords do not appear in output. Confined to the test's thread. */
class SecretsTest {
    @RegisterExtension
    static final ServerExtension servers = ServerExtension.withoutServer();

    private static final String SECRET = "tell-nobody";

    @TempDir
    Path folder;

    @Test
    void neitherTheLogNorTheSlowLogHasThem() throws IOException {
        Logger root = (Logger) LoggerFactory.getLogger("io.varve");
        Level before = root.getLevel();
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        root.addAppender(log);
        root.setLevel(Level.TRACE);
        ServerConfig config = ServerExtension.config("maxmemory 64mb", "requirepass " + SECRET + 0,
                "slowlog-log-slower-than 0");
        try (VarveServer server = servers.start(config); RawClient client = new RawClient(server.port())) {
            client.call("AUTH", SECRET);
            client.call("AUTH", "default", SECRET);
            client.call("AUTH", SECRET + 0);
            client.call("auth", "default", SECRET + 0, "more");
            client.call("HELLO", "2", "AUTH", "default", SECRET + 0, "SETNAME", "me");
            client.call("HELLO", "2", "SETNAME", "me", "AUTH", "default", SECRET);
            client.call("HELLO", "2", "SETNAME", "AUTH", "AUTH", "default", SECRET);
            client.call("HELLO", "2", "nosuch", "AUTH", "default", SECRET);
            client.call("ACL", "DRYRUN", "default", "AUTH", "default", SECRET);
            client.call("ACL", "DRYRUN", "default", "HELLO", "3", "AUTH", "default", SECRET);
            client.call("ACL", "SETUSER", "u", "on", ">" + SECRET, "+nosuch");
            client.call("ACL", "SETUSER", "u", "on", ">" + SECRET);
            client.call("ACL", "SETUSER", "u", "<" + SECRET + 1);
            client.call("CONFIG", "SET", "requirepass", SECRET, "hz", "11");
            client.call("CONFIG", "SET", "hz", "10", "masterauth", SECRET);
            client.call("CONFIG", "SET", "tls-key-file-pass", SECRET, "hz", "x");
            client.call("MULTI");
            client.call("AUTH", "default", SECRET);
            client.call("CONFIG", "SET", "REQUIREPASS", SECRET + 2);
            client.call("EXEC");
            String slow = client.call("SLOWLOG", "GET", "-1").toString();
            assertThat(slow).doesNotContain(SECRET).contains("(redacted)", "SETNAME", "11");
            assertThat(client.call("INFO", "everything").text() + client.call("CLIENT", "LIST")
                    + client.call("ACL", "LIST") + client.call("ACL", "LOG")).doesNotContain(SECRET);
        } finally {
            root.detachAppender(log);
            root.setLevel(before);
        }
        assertThat(log.list).extracting(ILoggingEvent::getFormattedMessage).noneMatch(line -> line.contains(SECRET));
    }

    @ParameterizedTest
    @ValueSource(strings = {"requirepass \"" + SECRET, "requirepass " + SECRET + " more",
            "user u on >" + SECRET + " +nosuch", "user u on \">" + SECRET, "user u (>" + SECRET,
            "tls-key-file-pass " + SECRET + " more", "USER u >" + SECRET + "\nuser u on"})
    void neitherHasTheMessageAboutAWrongLine(String lines) throws IOException {
        Path file = Files.writeString(folder.resolve("varve.conf"), "port 0\nmaxmemory 64mb\n" + lines + "\n");
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        PrintStream nowhere = new PrintStream(new ByteArrayOutputStream(), true, StandardCharsets.UTF_8);
        int status = Main.run(List.of(file.toString()), nowhere, new PrintStream(err, true, StandardCharsets.UTF_8));
        assertThat(status).isEqualTo(2);
        assertThat(err.toString(StandardCharsets.UTF_8)).startsWith("varve: ").contains("varve.conf:")
                .doesNotContain(SECRET).hasLineCount(1);
    }
}
