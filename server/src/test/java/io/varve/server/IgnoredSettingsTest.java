package io.varve.server;

import java.io.IOException;
import java.util.List;
import java.util.Map;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.varve.server.config.ConfigException;
import io.varve.server.config.IgnoredSettings;
import io.varve.server.config.ServerConfig;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests the warnings about settings without effect. Confined to the test's thread. */
class IgnoredSettingsTest {
    @RegisterExtension
    static final ServerExtension servers = ServerExtension.withoutServer();

    private static final ServerConfig CONFIG = ServerExtension.config("maxmemory 64mb");

    private final Logger logger = (Logger) LoggerFactory.getLogger(IgnoredSettings.class);
    private final Level levelBefore = logger.getLevel();
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();

    @BeforeEach
    void listen() {
        log.start();
        logger.addAppender(log);
        logger.setLevel(Level.WARN);
    }

    @AfterEach
    void stopListening() {
        logger.detachAppender(log);
        logger.setLevel(levelBefore);
    }

    private List<String> logged() {
        return log.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
    }

    @Test
    void defaultsAndEffectiveSettingsAreNotLogged() throws IOException {
        Map<String, String> asByDefault = Map.of("appendonly", "NO", "repl-backlog-size", "1mb", "hz", "20");
        ServerConfig config = CONFIG;
        for (Map.Entry<String, String> setting : asByDefault.entrySet()) {
            config = config.with(setting.getKey(), setting.getValue());
        }
        try (VarveServer server = servers.start(config); RawClient client = new RawClient(server.port())) {
            assertThat(client.command("CONFIG", "SET", "maxclients", "100", "rdb-save-incremental-fsync", "yes"))
                    .isEqualTo("+OK\r\n");
        }
        assertThat(logged()).isEmpty();
    }

    @Test
    void ineffectiveSettingsAreLoggedAtTheStart() throws IOException {
        ServerConfig config = CONFIG.with("maxmemory-clients", "5%").with("rdb-save-incremental-fsync", "no")
                .with("tls-client-key-file-pass", "tell-nobody").with("list-max-ziplist-size", "-3")
                .with("syslog-ident", "");
        try (VarveServer server = servers.start(config); RawClient client = new RawClient(server.port())) {
            assertThat(client.command("CONFIG", "GET", "maxmemory-clients"))
                    .isEqualTo("*2\r\n$17\r\nmaxmemory-clients\r\n$2\r\n5%\r\n");
        }
        assertThat(logged())
                .containsExactly("Settings without effect in Varve: rdb-save-incremental-fsync no, syslog-ident \"\","
                        + " tls-client-key-file-pass (hidden), list-max-listpack-size -3, maxmemory-clients 5%");
    }

    @Test
    void changedSettingsAreLoggedOnce() throws IOException {
        try (VarveServer server = servers.start(CONFIG.with("rdb-save-incremental-fsync", "no"));
                RawClient client = new RawClient(server.port())) {
            assertThat(logged()).containsExactly("Settings without effect in Varve: rdb-save-incremental-fsync no");
            log.list.clear();
            assertThat(client.command("CONFIG", "SET", "maxmemory-clients", "101%"))
                    .contains("percentage argument must be less or equal to 100");
            assertThat(client.command("CONFIG", "SET", "appendfsync", "always", "hz", "x")).startsWith("-ERR");
            assertThat(logged()).isEmpty();
            for (String value : List.of("no", "yes", "no")) {
                assertThat(client.command("CONFIG", "SET", "AOF-USE-RDB-PREAMBLE", value, "rdb-save-incremental-fsync",
                        "no",
                        "hz", "20",
                        "tls-client-key-file-pass", "tell-nobody")).isEqualTo("+OK\r\n");
            }
            assertThat(client.command("CONFIG", "SET", "cluster-announce-hostname", "a\r\nb" + "c".repeat(1000)))
                    .isEqualTo("+OK\r\n");
        }
        assertThat(logged()).hasSize(2);
        assertThat(logged().getFirst()).startsWith("Settings without effect in Varve: ")
                .contains("aof-use-rdb-preamble no",
                        "tls-client-key-file-pass (hidden)")
                .doesNotContain("rdb-save-incremental-fsync", "hz");
        assertThat(logged().getLast())
                .isEqualTo("Settings without effect in Varve: cluster-announce-hostname a??b" + "c".repeat(96) + "...");
    }

    /** It needs flash below and classes of penalty. */
    @Test
    void ineffectiveDemandCyclesAreLoggedOnce() throws IOException {
        try (VarveServer server = servers.start(CONFIG.with("maxmemory-policy", "allkeys-penalty"));
                RawClient client = new RawClient(server.port())) {
            assertThat(client.command("CONFIG", "SET", "demand-misses", "50")).isEqualTo("+OK\r\n");
            assertThat(logged()).isEmpty();
            for (String value : List.of("yes", "no", "yes")) {
                assertThat(client.command("CONFIG", "SET", "demand-cycles", value)).isEqualTo("+OK\r\n");
            }
            assertThat(client.infoLong("demand_cycles")).isZero();
        }
        assertThat(logged()).hasSize(1);
        assertThat(logged().getFirst()).startsWith("demand-cycles yes has no effect: it needs flash-dir");
    }

    @Test
    void aMissingDirectoryIsLoggedOnce() throws IOException {
        ServerConfig config = CONFIG.with("dir", "/no/such/directory").with("enable-protected-configs", "yes");
        try (VarveServer server = servers.start(config); RawClient client = new RawClient(server.port())) {
            assertThat(client.command("CONFIG", "SET", "hz", "20")).isEqualTo("+OK\r\n");
            assertThat(client.command("CONFIG", "SET", "dir", "/nor/this")).isEqualTo("-ERR CONFIG SET failed (possibly"
                    + " related to argument 'dir') - No such file or directory\r\n");
        }
        assertThat(logged()).containsExactly(
                "dir /no/such/directory does not exist: the server continues, but cannot save snapshots there");
    }

    @Test
    void aServerThatIsEmbeddedRefusesWhatWouldChangeWhatDataMeansToo() {
        assertThatThrownBy(() -> servers.start(CONFIG.with("daemonize", "yes").with("import-mode", "yes")))
                .isInstanceOf(ConfigException.class).hasMessageContaining("import-mode yes: expected")
                .hasMessageContaining("daemonize yes: expected no");
    }
}
