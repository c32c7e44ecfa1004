package io.varve.server.config;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
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
    void whatIsNoMemoryIsRefused(String written) {
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
    void saveLinesAddUpAndLimitsAreByClass() throws IOException {
        ServerConfig config = read("save 900 1", "save 300 10", "client-output-buffer-limit normal 1mb 512kb 10",
                "client-output-buffer-limit replica 5 4 3");
        assertThat(config.text("save")).isEqualTo("900 1 300 10");
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
    void unbalancedQuotesAreToldWithTheirLine() {
        assertThatThrownBy(() -> read("port 1", "requirepass \"abc")).isInstanceOf(ConfigException.class)
                .hasMessageContaining("varve.conf:2").hasMessageContaining("unbalanced quotes");
    }

    static Stream<Setting> strictSettings() {
        return Settings.all().values().stream()
                .filter(setting -> setting.kind() != Setting.Kind.TEXT);
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
    void whatMakesNoSenseIsRefusedInOneLine(String arguments) {
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
    void everyPromisedSettingIsServed(String name) {
        assertThat(Settings.find(name)).isNotNull();
    }
}
