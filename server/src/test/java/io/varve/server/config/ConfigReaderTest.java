package io.varve.server.config;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Files in redis.conf syntax, options, and every kind of bad setting. Confined to the test's thread. */
class ConfigReaderTest {
    @TempDir
    Path folder;

    private ServerConfig read(String... lines) throws IOException {
        Path file = Files.write(folder.resolve("varve.conf"), List.of(lines));
        return ConfigReader.read(List.of(file.toString()));
    }

    @Test
    void commentsBlanksAndCaseMeanNothing() throws IOException {
        ServerConfig config = read("# comment", "", "   # another", "\tPORT \t 7000  ", "MaxMemory-Policy ALLKEYS-LRU");
        assertThat(config.number("port")).isEqualTo(7000);
        assertThat(config.text("maxmemory-policy")).isEqualTo("allkeys-lru");
        assertThat(config.file()).isEqualTo(folder.resolve("varve.conf"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', value = {"\"a b\"|a b", "'a \"b\"'|a \"b\"",
            "\"\\x41b\\\\c\"|Ab\\c",
            "'it\\'s'|it's", "\"q\\\"q\"|q\"q", "\"\"|``", "plain#text|plain#text"})
    void quotesAreAsInRedis(String written, String meant) throws IOException {
        assertThat(read("requirepass " + written).password()).isEqualTo(meant);
    }

    @Test
    void includedFilesAreReadWhereTheyStand() throws IOException {
        Path inner = Files.write(folder.resolve("inner.conf"), List.of("port 1", "timeout 5"));
        ServerConfig config = read("port 0", "include " + inner, "port 2");
        assertThat(config.number("port")).isEqualTo(2);
        assertThat(config.number("timeout")).isEqualTo(5);
        assertThatThrownBy(() -> read("include " + folder.resolve("varve.conf"))).isInstanceOf(ConfigException.class)
                .hasMessageContaining("include each other");
        String self = "include " + folder.resolve("varve.conf");
        assertThatThrownBy(() -> read(self, self, self)).as("a line each, and not one for each way through them")
                .isInstanceOfSatisfying(ConfigException.class,
                        bad -> assertThat(String.valueOf(bad.getMessage()).lines()).hasSize(3));
        assertThatThrownBy(() -> read("include " + folder.resolve("nosuch.conf"))).isInstanceOf(ConfigException.class)
                .hasMessageContaining("nosuch.conf");
    }

    @ParameterizedTest
    @CsvSource({"100,100", "100b,100", "2k,2000", "2kb,2048", "2KB,2048", "3m,3000000", "3mb,3145728", "1g,1000000000",
            "1Gb,1073741824"})
    void memoryHasUnits(String written, long bytes) {
        assertThat(MemoryUnits.parse(written)).isEqualTo(bytes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "mb", "-1", "1.5gb", "1 mb", "1tb", "9223372036854775808", "99999999999gb"})
    void invalidMemoryAmountsAreRefused(String written) {
        assertThat(MemoryUnits.parse(written)).isNegative();
    }

    @Test
    void optionsOverrideTheFile() throws IOException {
        Path file = Files.write(folder.resolve("varve.conf"), List.of("port 7000", "timeout 5"));
        ServerConfig config = ConfigReader.read(List.of(file.toString(), "--port", "7001", "--hz=50", "--bind",
                "127.0.0.1", "::1"));
        assertThat(config.number("port")).isEqualTo(7001);
        assertThat(config.number("timeout")).isEqualTo(5);
        assertThat(config.number("hz")).isEqualTo(50);
        assertThat(config.text("bind")).isEqualTo("127.0.0.1 ::1");
    }

    @Test
    void limitsAreByClass() throws IOException {
        ServerConfig config = read("client-output-buffer-limit normal 1mb 512kb 10",
                "client-output-buffer-limit replica 5 4 3");
        assertThat(config.text("client-output-buffer-limit"))
                .isEqualTo("normal 1048576 524288 10 slave 5 4 3 pubsub 33554432 8388608 60");
        OutputBufferLimits limits = config.outputBufferLimits();
        assertThat(limits.hardBytes(false)).isEqualTo(1 << 20);
        assertThat(limits.softBytes(false)).isEqualTo(512 << 10);
        assertThat(limits.softSeconds(false)).isEqualTo(10);
        assertThat(limits.hardBytes(true)).isEqualTo(32 << 20);
        assertThat(limits.softBytes(true)).isEqualTo(8 << 20);
        assertThat(limits.softSeconds(true)).isEqualTo(60);
    }

    @Test
    void everyBadLineAndOptionIsReported_inTheirOrder_withFileLineNameValueAndWhatIsAllowed() throws IOException {
        Path inner = Files.write(folder.resolve("inner.conf"), List.of("timeout 1", "tcp-keepalive x"));
        Path file = Files.write(folder.resolve("varve.conf"), List.of("import-mode yes", "port 70000", "hz 10",
                "nosuch a b", "save 900 1", "requirepass \"tell-nobody", "include " + inner, "save 300 10",
                "dbfilename a/b", "user a", "user a", "slaveof 10.0.0.1 65536", "requirepass tell-nobody more",
                "loadmodule x.so",
                "include " + folder + "/nosuch.conf", "maxclients", "databases 32", "logfile \"a\\x00b\"",
                "timeout \"1\\n2\""));
        assertThatThrownBy(() -> ConfigReader.read(List.of(file.toString(), "--hz", "0", "--daemonize", "yes",
                "--nosuch=1"))).isInstanceOf(ConfigException.class).message()
                .isEqualTo(String.join("\n",
                        file + ":1: import-mode yes: expected no: Varve always expires and evicts keys",
                        file + ":2: port 70000: expected a number from 0 to 65535",
                        file + ":4: nosuch a b: there is no such setting; serve --help lists them",
                        file + ":6: unbalanced quotes: requirepass (hidden)",
                        inner + ":2: tcp-keepalive x: expected a number from 0 to 2147483647",
                        file + ":9: dbfilename a/b: expected the name of a file in the folder dir, without a path",
                        file + ":11: user a: is defined twice",
                        file + ":12: slaveof 10.0.0.1 65536: expected a host and a port from 0 to 65535, or \"\"",
                        file + ":13: requirepass (hidden): takes one value: any text",
                        file + ":14: loadmodule x.so: Varve has no modules: remove the line",
                        file + ":15: configuration file " + folder
                                + "/nosuch.conf cannot be read: there is no such file",
                        file + ":16: maxclients: needs a value: a number from 1 to 4294967295",
                        file + ":17: databases 32: expected a number from 1 to 16: an item stores a 5-bit database"
                                + " number, and FLUSHDB needs a second number for each database",
                        file + ":18: logfile a?b: expected a file name",
                        file + ":19: timeout 1?2: expected a number from 0 to 2147483647",
                        "--hz 0: expected a number from 1 to 500",
                        "--daemonize yes: expected no: the server stays in the foreground; start it with systemd"
                                + " (Type=notify, supervised systemd) or another supervisor, and override a file that"
                                + " says yes by --daemonize no",
                        "--nosuch 1: there is no such setting; serve --help lists them"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"appendfilename a/b|appendfilename b", "dbfilename a/b|dbfilename b",
            "daemonize yes|daemonize no", "import-mode yes|import-mode no"})
    void unsupportedSemanticsAreRefused_unlessOverridden(String bad, String good)
            throws IOException {
        String name = Objects.requireNonNull(Settings.find(bad.substring(0, bad.indexOf(' ')))).name();
        assertThatThrownBy(() -> read("port 1", bad)).isInstanceOf(ConfigException.class)
                .hasMessageContaining("varve.conf:2: " + bad + ": expected ").message().hasLineCount(1);
        assertThat(read(good).text(name)).isNotNull();
        assertThat(read(bad, good).text(name)).isNotNull();
        Path file = Files.write(folder.resolve("varve.conf"), List.of(bad));
        List<String> arguments = new ArrayList<>(List.of(file.toString()));
        arguments.addAll(Objects.requireNonNull(ConfigReader.split("--" + good)));
        assertThat(ConfigReader.read(arguments).text(name)).isNotNull();
    }

    @Test
    void aByteOrderMarkIsSkipped() throws IOException {
        Path inner = Files.writeString(folder.resolve("inner.conf"), "\uFEFFtimeout 7\n");
        ServerConfig config = read("\uFEFFport 7000", "include " + inner);
        assertThat(config.number("port")).isEqualTo(7000);
        assertThat(config.number("timeout")).isEqualTo(7);
        assertThat(read("\uFEFF").number("timeout")).isZero();
        assertThatThrownBy(() -> read("hz 10", "\uFEFFport 7000")).isInstanceOf(ConfigException.class)
                .hasMessageContaining("there is no such setting");
    }

    @Test
    void aPatternIncludesTheFilesThatMatchInTheirOrder() throws IOException {
        Path parts = Files.createDirectory(folder.resolve("parts"));
        Files.write(parts.resolve("b.conf"), List.of("timeout 2"));
        Files.write(parts.resolve("a.conf"), List.of("timeout 1", "hz 11"));
        Files.write(parts.resolve("c.txt"), List.of("timeout 3"));
        ServerConfig config = read("include " + parts + "/*.conf", "include " + parts + "/*.none",
                "include " + folder + "/nosuch/*.conf");
        assertThat(config.number("timeout")).isEqualTo(2);
        assertThat(config.number("hz")).isEqualTo(11);
    }

    @Test
    void aDirectoryThatIsMissingMattersOnlyToFilesThatAreToBeInIt() throws IOException {
        Path missing = folder.resolve("missing");
        assertThat(read("dir " + missing, "logfile " + folder.resolve("log")).text("dir"))
                .isEqualTo(missing.toString());
        assertThatThrownBy(() -> read("dir " + missing, "logfile varve.log")).isInstanceOf(ConfigException.class)
                .hasMessageContaining("varve.conf:1: dir " + missing
                        + ": there is no such directory, but logfile varve.log is relative to it");
        assertThat(read("dir " + folder, "logfile varve.log").logFile()).isEqualTo(folder.resolve("varve.log"));
        assertThat(read("dir ./").text("dir")).isEqualTo(Path.of("").toAbsolutePath().toString());
    }

    @Test
    void unbalancedQuotesAreReportedWithTheirLine() {
        assertThatThrownBy(() -> read("port 1", "requirepass \"abc")).isInstanceOf(ConfigException.class)
                .hasMessageContaining("varve.conf:2").hasMessageContaining("unbalanced quotes");
    }

    static Stream<Setting> strictSettings() {
        return Settings.all().values().stream()
                .filter(setting -> switch (setting.kind()) {
                    case TEXT, FILE, DIRECTORY, ADDRESSES -> false;
                    default -> true;
                });
    }

    @ParameterizedTest
    @MethodSource("strictSettings")
    void everyBadSettingIsOneLineThatNamesSettingValueAndWhatIsAllowed(Setting setting) {
        assertThatThrownBy(() -> ConfigReader.read(List.of("--" + setting.name(), "?")))
                .isInstanceOf(ConfigException.class).message().contains(setting.name(), "?", setting.allowed())
                .doesNotContain("\n");
    }

    static Stream<Setting> rangedSettings() {
        return Settings.all().values().stream().filter(setting -> !setting.inert())
                .filter(setting -> switch (setting.kind()) {
                    case INTEGER, MEMORY, AUTO_INTEGER, AUTO_MEMORY -> true;
                    default -> false;
                });
    }

    @ParameterizedTest
    @MethodSource("rangedSettings")
    void everyNumberHasBounds(Setting setting) {
        assertThat(setting.normalize(Long.toString(setting.minimum()))).isEqualTo(Long.toString(setting.minimum()));
        assertThatThrownBy(() -> setting.normalize(Long.toString(setting.minimum() - 1)))
                .isInstanceOf(ConfigException.class);
        if (setting.maximum() < Long.MAX_VALUE) {
            assertThat(setting.normalize(Long.toString(setting.maximum())))
                    .isEqualTo(Long.toString(setting.maximum()));
            assertThatThrownBy(() -> setting.normalize(Long.toString(setting.maximum() + 1)))
                    .isInstanceOf(ConfigException.class);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"--nosuch 1", "--port", "--port 1 2", "-port 1", "nosuch.conf"})
    void invalidSettingsAreReportedInOneLine(String arguments) {
        assertThatThrownBy(() -> ConfigReader.read(List.of(arguments.split(" ")))).isInstanceOf(ConfigException.class)
                .message().isNotBlank().doesNotContain("\n");
    }

    @Test
    void everyDefaultIsValidInItsOwnForm() {
        ServerConfig defaults = ServerConfig.defaults();
        for (Setting setting : Settings.all().values()) {
            assertThat(setting.normalize(setting.defaultValue())).as(setting.name())
                    .isEqualTo(setting.defaultValue());
        }
        assertThat(defaults.validate().maxMemoryBytes()).isEqualTo(MachineMemory.totalBytes() / 2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"port", "bind", "maxclients", "timeout", "tcp-keepalive", "maxmemory", "maxmemory-policy",
            "maxmemory-samples", "requirepass", "hz", "databases", "appendonly", "appendfsync", "dir",
            "slowlog-log-slower-than", "notify-keyspace-events", "proto-max-bulk-len", "client-query-buffer-limit",
            "client-output-buffer-limit", "tls-port", "tls-cert-file", "tls-key-file", "io-threads", "shards",
            "segment-size", "cleaner-policy", "expire-algorithm", "expire-bucket-base-ms", "expire-buckets",
            "expire-cycle-ms", "penalty-tracking", "penalty-classes", "penalty-floor"})
    void everyDocumentedSettingExists(String name) {
        assertThat(Settings.find(name)).isNotNull();
    }
}
