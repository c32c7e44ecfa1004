package io.varve.server.config;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the configuration file of a release against the catalogue of settings. Confined to the test's thread. */
class ConfigTemplateTest {
    private static final Pattern SETTING = Pattern.compile("^#([a-z][a-z0-9-]*) (.+)$", Pattern.MULTILINE);
    private static final int MAX_COLUMNS = 120;

    @TempDir
    Path folder;

    private Path file(String text) throws IOException {
        return Files.writeString(folder.resolve("varve.conf"), text);
    }

    /** If this fails, a setting lacks its line in settings.txt, or a line there has no setting. */
    @Test
    void everySettingHasAMeaning() {
        assertThat(ConfigTemplate.sections().stream().flatMap(section -> section.meanings().keySet().stream()))
                .containsExactlyInAnyOrderElementsOf(
                        Settings.all().values().stream().filter(setting -> !setting.inert()).map(Setting::name)
                                .toList());
    }

    @Test
    void everySettingAppearsOnce() {
        assertThat(SETTING.matcher(ConfigTemplate.text()).results().map(match -> match.group(1)))
                .containsExactlyInAnyOrderElementsOf(Settings.all().keySet());
    }

    @Test
    void theServerAcceptsTheFile() throws IOException {
        ServerConfig config = ConfigReader.read(List.of(file(ConfigTemplate.text()).toString()));
        for (Setting setting : Settings.all().values()) {
            assertThat(config.asSet(setting.name())).as(setting.name()).isEqualTo(setting.defaultValue());
        }
    }

    /** Each value is the default; two of them depend on the machine, so the file has an example. */
    @Test
    void theServerAcceptsTheFileWithoutItsMarks() throws IOException {
        String text = SETTING.matcher(ConfigTemplate.text()).replaceAll("$1 $2");
        ServerConfig config = ConfigReader.read(List.of(file(text).toString()));
        for (Setting setting : Settings.all().values()) {
            if (!List.of("io-threads", "dir").contains(setting.name())) {
                assertThat(config.asSet(setting.name())).as(setting.name()).isEqualTo(setting.defaultValue());
            }
        }
    }

    @Test
    void linesAreShort() {
        assertThat(ConfigTemplate.text().lines()).allMatch(line -> line.length() <= MAX_COLUMNS);
    }

    @Test
    void mainWritesTheFile() throws IOException {
        Path file = folder.resolve("written.conf");
        ConfigTemplate.main(new String[] {file.toString()});
        assertThat(file).hasContent(ConfigTemplate.text());
    }
}
