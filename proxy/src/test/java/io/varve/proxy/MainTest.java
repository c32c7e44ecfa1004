package io.varve.proxy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import io.varve.server.config.ConfigException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests the command line and the settings. Confined to the test's thread. */
class MainTest {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    private int run(String... arguments) {
        return Main.run(List.of(arguments), new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8));
    }

    @Test
    void help_listsEverySetting() {
        assertThat(run("--help")).isZero();
        for (ProxySetting setting : ProxySetting.values()) {
            assertThat(out.toString(StandardCharsets.UTF_8)).contains("  " + setting.settingName() + " ");
            assertThat(setting.accepts(setting.initial())).as(setting.settingName()).isTrue();
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "--port x|varve: --port x: expected a number from 0 to 65535",
            "--merge-window-ms 21|varve: --merge-window-ms 21: expected a number from 0 to 20",
            "--nonsense 1|varve: --nonsense: there is no such setting; proxy --help lists them",
            "--members host|varve: --members host: expected HOST:PORT,... or HOST:PORT*WEIGHT,...",
            "--port|varve: --port: expected a number from 0 to 65535",
            "--port 7000|varve: members: needs a value, HOST:PORT,... or HOST:PORT*WEIGHT,...; or name controllers",
            "--members h:1 --controllers h:2|varve: members h:1: the controllers name the members; leave out members"
                    + " or controllers",
            "--controllers h|varve: --controllers h: expected HOST:PORT,...",
            "--members h:1*2 --member-kind cluster|varve: members h:1*2: weights need member-kind plain, because a"
                    + " cluster distributes its slots itself",
            "/nonexistent/file|varve: configuration file /nonexistent/file cannot be read: there is no such file"})
    void badSettings_areNamed_withStatus2(String arguments, String message) {
        assertThat(run(arguments.split(" "))).isEqualTo(2);
        assertThat(err.toString(StandardCharsets.UTF_8)).isEqualTo(message + "\n");
    }

    @Test
    void files_areRead_andOptionsPrevail(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("proxy.conf");
        Files.writeString(file, "# comment\nport 7000\n  members \"h:1,i:2\"\nrequirepass 'a b'\n");
        ProxySettings settings = ProxySettings.read(List.of(file.toString(), "--port", "7001"));
        assertThat(settings.number(ProxySetting.PORT)).isEqualTo(7001);
        assertThat(settings.members()).hasSize(2);
        assertThat(settings.text(ProxySetting.REQUIREPASS)).isEqualTo("a b");
        Files.writeString(file, "port x\nrequirepass\nquote \"\n");
        assertThatThrownBy(() -> ProxySettings.read(List.of(file.toString()))).isInstanceOf(ConfigException.class)
                .hasMessage(file + ":1: port x: expected a number from 0 to 65535\n" + file
                        + ":2: requirepass: expected a password\n" + file + ":3: unbalanced quotes");
    }
}
