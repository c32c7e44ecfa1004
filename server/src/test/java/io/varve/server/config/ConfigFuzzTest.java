package io.varve.server.config;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

import io.varve.server.fuzz.FuzzCase;
import io.varve.server.fuzz.FuzzFile;
import io.varve.server.fuzz.FuzzRun;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Reads any bytes as a configuration file: it causes the one exception, in one line, or CONFIG REWRITE's result reads
 * back to equal settings, including changes. Confined to the test's thread.
 */
public class ConfigFuzzTest {
    private static final List<List<String>> USERS = List.of(List.of("user", "alice", "on", "~a\"b"),
            List.of("user", "bob"));

    private static FuzzFile file;

    @BeforeAll
    public static void fuzzerInitialize() throws IOException {
        file = FuzzFile.create("varve.conf");
    }

    @AfterAll
    public static void fuzzerTearDown() throws IOException {
        file.close();
    }

    @Test
    void acceptedConfigurationsSurviveARewrite() {
        new FuzzRun(fuzzCase()).runFewer();
    }

    /** The target, for whatever drives it. */
    public static FuzzCase fuzzCase() {
        return new FuzzCase(ConfigFuzzTest.class, ConfigFuzzTest::fuzzerTestOneInput,
                List.of("# head\nport 7000\n\n  maxmemory 100MB\nlfu-log-factor 9\nLFU-log-factor 11\nrequirepass \"a b\"\n",
                        "client-output-buffer-limit normal 1mb 0 0\nclient-output-buffer-limit pubsub 32mb 8mb 60\nbind 127.0.0.1 ::1\n",
                        "user alice on >abc ~* +@all\nuser bob off\nrename-command GET \"\"\nrename-command SET put\n",
                        "notify-keyspace-events KEA\nmaxmemory-policy allkeys-lru\nhash-max-ziplist-entries 5\nsave \"\"\n",
                        "TIMEOUT 5\ntimeout 6\r\nhz 10\n\"port\" '7001'\nlatency-tracking-info-percentiles 50 99\n",
                        "segment-size auto\nshards 4\nflash-threads 4\ndir \"/tmp/\\x41\\n\"\nlogfile 'it\\'s'\nslowlog-max-len 07\n"),
                List.of("\n", "\r", "\r\n", " ", "\t", "\"", "'", "\\", "\\x", "\\x00", "#", "\"\"", "-1", "0", "auto",
                        "1gb",
                        "99999999999999999999", "999999999999999gb", "yes", "no", "user", "user a", "save \"\"", "save",
                        "port",
                        "requirepass ", "rename-command a b", "\u00c2\u0085", "\u00e2\u0080\u00a8", "\u001c", "\0",
                        "\u00ef\u00bb\u00bf",
                        "\u00ff",
                        "\u00e2\u0080\u0083", "\u00d9\u00a3", "normal 1 1 1", "# Added by CONFIG REWRITE", "include "));
    }

    /** Found by the fuzzer. */
    @ParameterizedTest
    @ValueSource(strings = {"\"user\" alice on", "user alice ~\u2028", "user\u001c", "USER alice on\n",
            "requirepass x\u001c",
            "requirepass \"\u2003\"", "bind \"\"", "'save' ''\nsave \"\""})
    void soIsThis(String text) {
        fuzzerTestOneInput(text.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void anInvalidIncludeNameIsRefused() {
        assertThatThrownBy(() -> read(file.write("include \"a\\x00b\"".getBytes(StandardCharsets.UTF_8))))
                .isInstanceOf(ConfigException.class).hasMessageContaining("include");
    }

    @ParameterizedTest
    @ValueSource(strings = {"requirepass \"tell-nobody", "\"requirepass\" \"tell-nobody", "'user' a \">tell-nobody"})
    void passwordsInUnbalancedLinesAreHidden(String line) {
        assertThatThrownBy(() -> read(file.write(List.of(line)))).isInstanceOf(ConfigException.class)
                .hasMessageContaining("unbalanced quotes").hasMessageNotContaining("tell-nobody");
    }

    private static ServerConfig read(Path file) {
        return ConfigReader.read(List.of(file.toString()));
    }

    /** Null if it is refused. */
    private static @Nullable ServerConfig readIfGood(Path file) {
        try {
            return read(file);
        } catch (ConfigException refused) {
            assertThat(refused.getMessage()).isNotEmpty();
            return null;
        }
    }

    public static void fuzzerTestOneInput(byte[] input) {
        if (new String(input, StandardCharsets.UTF_8).toLowerCase(Locale.ROOT).contains("include")) {
            // It leads to other files.
            return;
        }
        Path written = file.write(input);
        ServerConfig config = readIfGood(written);
        if (config == null) {
            return;
        }
        try {
            List<String> lines = ByteOrderMark.linesWithout(written, StandardCharsets.UTF_8);
            ServerConfig said = ConfigReader.readFile(written);
            assertThat(ConfigRewriter.merge(lines, said, config)).isEqualTo(lines);

            ServerConfig defaults = ServerConfig.defaults();
            assertSame(read(file.write(ConfigRewriter.merge(List.of(), defaults, config))), config);

            ServerConfig changed = config.with("timeout", "77").with("requirepass", "\"a'\\ \u2028\u0001")
                    .with("lfu-log-factor", "8")
                    .with("client-output-buffer-limit", "pubsub 1 2 3").with("maxmemory", "123mb");
            List<String> merged = ConfigRewriter.merge(lines, said, changed);
            assertSame(read(file.write(merged)), changed);

            List<String> withUsers = ConfigRewriter.withUsers(merged, ConfigRewriter.userLines(USERS));
            ServerConfig again = read(file.write(withUsers));
            assertSame(again, changed);
            assertThat(again.renames()).isEqualTo(config.renames());
            assertThat(again.users().stream().map(UserLine::name)).containsExactly("alice", "bob");
            assertThat(again.users().getFirst().rules()).containsExactly("on", "~a\"b");
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private static void assertSame(ServerConfig again, ServerConfig config) {
        for (String name : Settings.all().keySet()) {
            if (!again.asSet(name).equals(config.asSet(name))) {
                assertThat(again.asSet(name)).as(name).isEqualTo(config.asSet(name));
            }
        }
    }
}
