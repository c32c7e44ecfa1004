package io.varve.server;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import io.varve.server.config.ConfigReader;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests {@code rename-command}: renamed and disabled commands. Confined to the test's thread. */
class RenameCommandTest {
    @RegisterExtension
    static final ServerExtension servers = ServerExtension.withoutServer();

    @TempDir
    Path folder;

    private Path file(String... lines) throws IOException {
        return Files.write(folder.resolve("varve.conf"), List.of(lines));
    }

    @Test
    void aCommandHasItsOtherNameOrNone() throws IOException {
        Path file = file("port 0", "io-threads 1", "maxmemory 64mb", "rename-command FLUSHALL Wipe_Out",
                "rename-command config c-0nfig", "rename-command DEBUG \"\"",
                "rename-command EVAL \"\"", "rename-command bgrewriteaof \"\"", "user u on nopass -@all +flushall");
        try (VarveServer server = servers.start(ConfigReader.read(List.of(file.toString())));
                RawClient client = new RawClient(server.port())) {
            assertThat(client.call("FLUSHALL").text()).startsWith("ERR unknown command 'FLUSHALL'");
            assertThat(client.call("DEBUG", "SLEEP", "0").text()).startsWith("ERR unknown command 'DEBUG'");
            assertThat(client.call("CONFIG", "GET", "hz").text()).startsWith("ERR unknown command");
            assertThat(client.call("wipe_OUT").text()).isEqualTo("OK");
            assertThat(client.call("C-0NFIG", "SET", "hz", "11").text()).isEqualTo("OK");
            assertThat(client.call("c-0nfig", "rewrite").text()).isEqualTo("OK");
            assertThat(client.call("COMMAND", "LIST").elements()).extracting(RawReply::text)
                    .contains("get", "config|get")
                    .doesNotContain("debug", "debug|sleep");
            assertThat(client.call("COMMAND", "INFO", "flushall", "wipe_out").elements()).extracting(RawReply::isNull)
                    .containsExactly(true, false);
            // Rules of users go by the names that commands are born with.
            assertThat(client.call("ACL", "DRYRUN", "u", "wipe_out").text()).isEqualTo("OK");
            assertThat(client.call("ACL", "DRYRUN", "u", "flushall").text()).contains("not found");
            assertThat(client.call("ACL", "SETUSER", "u", "+debug").text()).isEqualTo("OK");
            assertThat(client.call("AUTH", "u", "").text()).isEqualTo("OK");
            assertThat(client.call("wipe_out").text()).isEqualTo("OK");
            assertThat(client.call("C-0NFIG", "SET", "hz", "11").text())
                    .isEqualTo("NOPERM User u has no permissions to run the 'config|set' command");
        }
        assertThat(Files.readAllLines(file)).contains("rename-command FLUSHALL Wipe_Out", "rename-command DEBUG \"\"",
                "hz 11");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"rename-command nosuch x | rename-command nosuch x: there is no such command",
            "rename-command get SET | rename-command get SET: there is a command of this name already",
            "rename-command get | varve.conf:2: rename-command get: takes a command and its new name"})
    void invalidRenamesAreReported(String line, String message) throws IOException {
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        PrintStream nowhere = new PrintStream(new ByteArrayOutputStream(), true, StandardCharsets.UTF_8);
        int status = Main.run(List.of(file("port 0", line, "maxmemory 64mb").toString()), nowhere,
                new PrintStream(err, true, StandardCharsets.UTF_8));
        assertThat(err.toString(StandardCharsets.UTF_8)).contains(message).hasLineCount(1);
        assertThat(status).isEqualTo(2);
    }
}
