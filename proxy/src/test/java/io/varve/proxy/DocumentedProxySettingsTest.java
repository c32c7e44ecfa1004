package io.varve.proxy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests that docs/OPERATING.md lists the settings of the proxy. Confined to the test's thread. */
class DocumentedProxySettingsTest {
    private static final Pattern NAME = Pattern.compile("`([a-z-]+)`");

    @Test
    void eachSetting_isInTheTable() throws IOException {
        String text = Files.readString(Path.of("..", "docs", "OPERATING.md"));
        int start = text.indexOf("\n### Settings of the proxy\n");
        String section = text.substring(start, text.indexOf("\n### ", start + 1));
        List<String> documented = section.lines().filter(line -> line.startsWith("| `"))
                .flatMap(line -> NAME.matcher(line.split("\\|")[1]).results()).map(match -> match.group(1)).toList();
        Set<String> settings = Arrays.stream(ProxySetting.values()).map(ProxySetting::settingName)
                .collect(Collectors.toSet());
        assertThat(documented).containsExactlyInAnyOrderElementsOf(settings);
    }
}
