package io.varve.server.config;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests the settings in the default files of Redis and Valkey. Confined to the test's thread. */
public class StockConfigurationTest {
    @TempDir
    Path folder;

    /** The lines of a stock file, which are names and values and no comments. */
    public static List<String> lines(String name) throws IOException {
        try (InputStream in = StockConfigurationTest.class.getResourceAsStream("stock/" + name)) {
            return new String(Objects.requireNonNull(in, name).readAllBytes(), StandardCharsets.UTF_8).lines().toList();
        }
    }

    private ServerConfig read(String name, @Nullable String options) throws IOException {
        List<String> arguments = new ArrayList<>();
        arguments.add(Files.write(folder.resolve("stock.conf"), lines(name)).toString());
        if (options != null) {
            arguments.addAll(List.of(options.split(" ")));
        }
        return ConfigReader.read(arguments);
    }

    @ParameterizedTest
    @CsvSource({"redis-7.0-debian.conf,--supervised systemd --daemonize no", "redis-7.0-debian.conf,--daemonize no",
            "redis-7.0-debian.conf,--supervised systemd", "redis-7.2.conf,", "redis-7.4.conf,",
            "valkey-9.0.conf,"})
    void aStockFileIsAccepted_andEachValueIsShown(String name, @Nullable String options) throws IOException {
        ServerConfig config = read(name, options);
        assertThat(config.number("databases")).isEqualTo(16);
        assertThat(config.text("bind")).isEqualTo("127.0.0.1 -::1");
        assertThat(config.text("save")).isEmpty();
        assertThat(config.bool("appendonly")).isFalse();
        for (String line : lines(name)) {
            List<String> words = Objects.requireNonNull(ConfigReader.split(line));
            Setting setting = Objects.requireNonNull(Settings.find(words.getFirst()), line);
            if (setting.kind() != Setting.Kind.BUFFER_LIMITS && !setting.name().equals("daemonize")) {
                assertThat(config.asSet(setting.name())).as(line)
                        .isEqualTo(setting.normalize(String.join(" ", words.subList(1, words.size()))));
            }
        }
    }

    /** No service manager has started the tests. */
    @ParameterizedTest
    @NullSource
    @ValueSource(strings = {"--supervised no", "--supervised auto", "--daemonize yes"})
    void theFileOfDebianIsRefusedWithoutItsUnitsOptions(@Nullable String options) {
        assertThatThrownBy(() -> read("redis-7.0-debian.conf", options)).isInstanceOf(ConfigException.class).message()
                .hasLineCount(1).contains("daemonize yes: expected no", "--daemonize no");
    }

    /** Users take the hash off lines that stock files hold as comments. */
    @Test
    void everyNameOfRedisAndValkeyIsKnown() throws IOException {
        assertThat(lines("names.txt")).hasSizeGreaterThan(250).allSatisfy(name -> assertThat(Settings.find(name))
                .as(name).isNotNull());
    }
}
