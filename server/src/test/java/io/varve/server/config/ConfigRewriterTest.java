package io.varve.server.config;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the lines that CONFIG REWRITE keeps and changes. Confined to the test's thread. */
class ConfigRewriterTest {
    @TempDir
    Path folder;

    private Path file(String... lines) throws IOException {
        return Files.write(folder.resolve("varve.conf"), List.of(lines));
    }

    private static ServerConfig read(Path file) {
        return ConfigReader.read(List.of(file.toString()));
    }

    @Test
    void anUnchangedFileStaysByteForByte() throws IOException {
        Path file = file("# my cache", "", "  port   7000 ", "maxmemory 100MB",
                "lfu-log-factor 9", "lfu-log-factor 11", "client-output-buffer-limit normal 1mb 0 0",
                "requirepass \"a b\"");
        byte[] before = Files.readAllBytes(file);
        ConfigRewriter.rewrite(read(file), List.of());
        assertThat(Files.readAllBytes(file)).isEqualTo(before);
    }

    @Test
    void changedSettingsAreReplacedWhereTheyStandAndNewOnesAdded() throws IOException {
        Path file = file("# head", "timeout 5", "slave-priority 90", "# between", "replica-priority 80", "PORT 7000");
        ServerConfig changed = read(file).with("timeout", "9").with("slave-priority", "70")
                .with("requirepass", "it's \"x\"")
                .with("hz", "50");
        ConfigRewriter.rewrite(changed, List.of());
        assertThat(Files.readAllLines(file)).containsExactly("# head", "timeout 9", "replica-priority 70", "# between",
                "PORT 7000", "# Added by CONFIG REWRITE", "requirepass \"it's \\\"x\\\"\"", "hz 50");
        ServerConfig again = read(file);
        for (String name : Settings.all().keySet()) {
            assertThat(again.text(name)).as(name).isEqualTo(changed.text(name));
        }
        ConfigRewriter.rewrite(again.with("slowlog-max-len", "7"), List.of());
        assertThat(Files.readAllLines(file)).containsOnlyOnce("# Added by CONFIG REWRITE").endsWith("hz 50",
                "slowlog-max-len 7");
    }

    @Test
    void optionsAreWrittenToo() throws IOException {
        Path file = file("port 7000");
        ConfigRewriter.rewrite(ConfigReader.read(List.of(file.toString(), "--port", "7001", "--save", "")), List.of());
        assertThat(Files.readAllLines(file)).containsExactly("port 7001");
    }

    @Test
    void nothingIsLeftBesideTheFileAndItsModeStays() throws IOException {
        Path file = file("port 7000");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
        ConfigRewriter.rewrite(read(file).with("timeout", "1"), List.of());
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file))).isEqualTo("rw-r-----");
        try (var files = Files.list(folder)) {
            assertThat(files).containsExactly(file);
        }
    }

    @Test
    void aMissingFileIsCreated() throws IOException {
        Path file = file("timeout 3");
        ServerConfig config = read(file);
        Files.delete(file);
        ConfigRewriter.rewrite(config, List.of());
        assertThat(read(file).number("timeout")).isEqualTo(3);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "plain", "a b", "quote\"", "it's", "back\\slash", "tab\tline\nbell\u0007", "ümläut"})
    void quotedValuesAreReadBack(String value) {
        assertThat(ConfigReader.split("requirepass " + ConfigRewriter.quoted(value))).containsExactly("requirepass",
                value);
    }

    @Test
    void aByteOrderMarkIsRemovedAndItsLineReplaced() throws IOException {
        Path file = file("\uFEFFtimeout 5", "hz 10");
        ConfigRewriter.rewrite(read(file).with("timeout", "6"), List.of());
        assertThat(Files.readAllLines(file)).containsExactly("timeout 6", "hz 10");
    }
}
