package io.varve.server.system;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the notifications to systemd, on a socket like its own. Confined to the test's thread. */
class SupervisorTest {
    private static final String PID = Long.toString(ProcessHandle.current().pid());

    private final Logger logger = (Logger) LoggerFactory.getLogger(Supervisor.class);
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();

    @BeforeEach
    void listen() {
        log.start();
        logger.addAppender(log);
    }

    @AfterEach
    void stopListening() {
        logger.detachAppender(log);
    }

    private List<String> logged() {
        return log.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
    }

    private void assertNotifiedAt(String setting, String name) throws IOException {
        try (NotifySocket systemd = new NotifySocket(name)) {
            Supervisor supervisor = Supervisor.of(setting, Map.of("NOTIFY_SOCKET", name));
            assertThat(supervisor).hasToString("systemd");
            assertThat(systemd.next()).isEmpty();
            supervisor.ready();
            assertThat(systemd.next()).isEqualTo("READY=1\nSTATUS=Ready to accept connections\nMAINPID=" + PID + "\n");
            supervisor.stopping();
            assertThat(systemd.next()).isEqualTo("STOPPING=1\nSTATUS=Finishing\n");
            assertThat(systemd.next()).isEmpty();
        }
        assertThat(logged()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"systemd", "auto"})
    void systemdIsNotifiedOnAFileSystemSocket(String setting) throws IOException {
        Path folder = Files.createTempDirectory("varve");
        try {
            assertNotifiedAt(setting, folder.resolve("n").toString());
        } finally {
            Files.deleteIfExists(folder.resolve("n"));
            Files.delete(folder);
        }
    }

    @ParameterizedTest
    @CsvSource({"systemd", "auto"})
    void systemdIsNotifiedOnAnAbstractSocket(String setting) throws IOException {
        assertNotifiedAt(setting, "@varve-test-" + PID + "/" + System.nanoTime());
    }

    @Test
    void aMissingSocketIsLogged_andTheServerContinues() {
        Supervisor supervisor = Supervisor.of("systemd", Map.of("NOTIFY_SOCKET", "/no/such/socket"));
        supervisor.ready();
        supervisor.stopping();
        assertThat(logged()).hasSize(2).allMatch(line -> line.contains("/no/such/socket"));
    }

    @ParameterizedTest
    @CsvSource({"systemd,,supervised systemd: the environment has no NOTIFY_SOCKET",
            "systemd,vsock:2:1,NOTIFY_SOCKET vsock:2:1: expected a path",
            "auto,vsock:2:1,NOTIFY_SOCKET vsock:2:1: expected a path",
            "upstart,/s,supervised upstart: the environment has no UPSTART_JOB"})
    void anUnreachableManagerIsLoggedOnce(String setting, String socket, String why) {
        Supervisor supervisor = Supervisor.of(setting, socket == null ? Map.of() : Map.of("NOTIFY_SOCKET", socket));
        assertThat(supervisor).hasToString("no");
        supervisor.ready();
        supervisor.stopping();
        assertThat(logged()).hasSize(1);
        assertThat(logged().getFirst()).startsWith(why);
    }

    @ParameterizedTest
    @CsvSource({"no,/s", "auto,"})
    void withoutASocketNoNotificationIsSent(String setting, String socket) {
        Supervisor supervisor = Supervisor.of(setting, socket == null ? Map.of() : Map.of("NOTIFY_SOCKET", socket));
        assertThat(supervisor).hasToString("no");
        supervisor.ready();
        supervisor.stopping();
        assertThat(logged()).isEmpty();
    }

    @Test
    void upstartComesFirst() {
        assertThat(Supervisor.of("auto", Map.of("NOTIFY_SOCKET", "/s", "UPSTART_JOB", "varve")))
                .hasToString("upstart");
    }
}
