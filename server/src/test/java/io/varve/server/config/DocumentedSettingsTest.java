package io.varve.server.config;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the statements of docs/OPERATING.md about settings for safety. Confined to the test's thread. */
class DocumentedSettingsTest {
    private static final Pattern EXAMPLE = Pattern.compile("\\| `([^`]+)` \\|$", Pattern.MULTILINE);
    private static final Pattern CHANGEABLE = Pattern.compile("`([a-z-]+)`(?: \\([^)]*\\))? \\*");

    @TempDir
    Path folder;

    private static String section() throws IOException {
        String text = Files.readString(Path.of("..", "docs", "OPERATING.md"));
        int start = text.indexOf("\n## Security\n");
        return text.substring(start, text.indexOf("\n## ", start + 1));
    }

    @Test
    void eachExampleCanStandInAConfiguration() throws IOException {
        List<String> examples = EXAMPLE.matcher(section()).results().map(match -> match.group(1)).toList();
        assertThat(examples).hasSizeGreaterThan(20).contains("rename-command FLUSHALL \"\"", "port 0");
        for (String example : examples) {
            Path file = Files.write(folder.resolve("varve.conf"), List.of(example));
            ServerConfig config = ConfigReader.read(List.of(file.toString()));
            String name = example.substring(0, example.indexOf(' '));
            Setting setting = Settings.find(name);
            if (setting == null) {
                assertThat(name).isIn("user", "rename-command");
            } else {
                assertThat(setting.inert()).as(example).isFalse();
                assertThat(config.text(name)).as(example).isNotEmpty();
            }
        }
    }

    @Test
    void settingsWithAStarCanBeChanged() throws IOException {
        List<String> names = CHANGEABLE.matcher(section()).results().map(match -> match.group(1)).toList();
        assertThat(names).hasSizeGreaterThan(10).allMatch(name -> {
            Setting setting = Settings.find(name);
            return setting != null && setting.changeable();
        });
    }
}
