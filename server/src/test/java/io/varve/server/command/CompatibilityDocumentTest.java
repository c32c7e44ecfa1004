package io.varve.server.command;

import java.io.IOException;
import java.lang.module.ModuleDescriptor.Version;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.varve.server.command.registry.CommandFamilies;
import io.varve.server.command.spec.CommandSpec;
import io.varve.server.config.ServerConfig;
import io.varve.server.testing.StubCache;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compares docs/COMPATIBILITY.md with the command table and with the list of tests of Redis's suite that do not pass.
 * Confined to the test's thread.
 */
class CompatibilityDocumentTest {
    private static final Pattern REASON = Pattern
            .compile("^([A-Z][^:\\n]*): [^\\n]*\\n(?:[^ \\n][^\\n]*\\n)*  (?:differs|skip)", Pattern.MULTILINE);
    /** The version whose suite and reference the commands without a number have. */
    private static final String REFERENCE = "7.0.15";

    private static String text(String... path) throws IOException {
        return Files.readString(Path.of("..", path));
    }

    private static CommandTable table() {
        ServerConfig config = ServerConfig.defaults().with("maxmemory", "64mb");
        var cache = StubCache.create(config.cacheConfig());
        return CommandFamilies.table(new ServerState(cache, config, config.cacheConfig().ticker(), _ -> {}));
    }

    /** {@code CLIENT (ID, INFO)} for a command with subcommands; with the version of one that Redis 7.0 lacks. */
    private static String described(CommandSpec spec) {
        String subcommands = spec.subcommands().values().stream().filter(each -> !each.name().equals("help"))
                .map(CompatibilityDocumentTest::named).sorted().collect(Collectors.joining(", "));
        return named(spec) + (subcommands.isEmpty() ? "" : " (" + subcommands + ")");
    }

    private static String family(CommandSpec spec) {
        return spec.name().startsWith("varve.") ? "only in Varve" : spec.group();
    }

    private static String named(CommandSpec spec) {
        boolean isNewer = !spec.fullName().startsWith("varve.")
                && Version.parse(spec.since()).compareTo(Version.parse(REFERENCE)) > 0;
        return spec.name().toUpperCase(Locale.ROOT)
                + (isNewer ? " " + spec.since().replaceFirst("\\.0$", "") : "");
    }

    @Test
    void theTableOfCommands_isThatOfTheServer() throws IOException {
        Map<String, List<String>> byFamily = new TreeMap<>();
        for (CommandSpec spec : table().all()) {
            if (spec.parent() == null) {
                byFamily.computeIfAbsent(family(spec), _ -> new ArrayList<>()).add(described(spec));
            }
        }
        StringBuilder expected = new StringBuilder("| family | commands |\n|---|---|\n");
        byFamily.forEach((family, commands) -> expected.append("| ").append(family).append(" | ")
                .append(commands.stream().sorted().collect(Collectors.joining(", "))).append(" |\n"));
        assertThat(text("docs", "COMPATIBILITY.md"))
                .as("docs/COMPATIBILITY.md lists the commands of the server: replace its table").contains(expected);
    }

    @Test
    void theReasonsOfTheSuitesDifferences_areThoseOfItsList() throws IOException {
        List<String> reasons = REASON.matcher(text("it", "redis-suite", "known-differences.txt")).results()
                .map(found -> found.group(1)).toList();
        String document = text("docs", "COMPATIBILITY.md");
        String section = document.substring(document.indexOf("\n## What differs on purpose\n"));
        List<String> named = Pattern.compile("^\\| ([^|]+) \\|[^|]*\\|[^|]*\\|$", Pattern.MULTILINE).matcher(section)
                .results().map((MatchResult row) -> row.group(1)).toList();
        assertThat(reasons).hasSizeGreaterThan(5);
        assertThat(named).containsAll(reasons);
    }
}
