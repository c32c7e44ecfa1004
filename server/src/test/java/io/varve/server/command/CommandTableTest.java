package io.varve.server.command;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.varve.server.command.registry.CommandFamilies;
import io.varve.server.command.spec.CommandFlag;
import io.varve.server.command.spec.CommandSpec;
import io.varve.server.command.spec.CommandTrait;
import io.varve.server.command.spec.KeyUse;
import io.varve.server.config.ServerConfig;
import io.varve.server.testing.StubCache;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Compares the spec of every command with the reference. Confined to the test's thread. */
class CommandTableTest {
    /** Newer than the recorded reference, or Varve's own. Those of DEBUG are not reported by it either. */
    private static final Set<String> NOT_IN_REFERENCE = Set.of("client|no-touch", "client|setinfo",
            "cluster|myshardid",

            "varve.class",
            "varve.class|default",
            "varve.class|help", "varve.class|list", "varve.class|set", "varve.hotkeys", "varve.pin", "varve.unpin",
            "varve.copies", "varve.copy", "varve.copylease", "varve.replicate", "varve.uncopy",
            "varve.mrc",
            "waitaof");
    private static final Set<String> GROUPS = Set.of("generic", "string", "hash", "set", "list", "sorted-set", "geo",
            "bitmap", "hyperloglog", "stream", "connection", "server", "scripting", "cluster",
            "transactions", "pubsub");

    private static final CommandTable TABLE = table();

    private static CommandTable table() {
        ServerConfig config = ServerConfig.defaults().with("maxmemory", "64mb");
        var cache = StubCache.create(config.cacheConfig());
        return CommandFamilies.table(new ServerState(cache, config, config.cacheConfig().ticker(), _ -> {}));
    }

    static Stream<CommandSpec> commands() {
        return TABLE.all().stream();
    }

    /** Memory is reclaimed once for a batch, and again for a refused command: a partial result is not allowed. */
    @ParameterizedTest
    @MethodSource("commands")
    void commandsThatMayRunOutOfMemoryAreAtomic(CommandSpec spec) {
        boolean hasSeveralKeys = spec.lastKey() != spec.firstKey() || spec.keyFinder() != null;
        assertThat(!spec.isDenyOom() || !hasSeveralKeys || spec.has(CommandTrait.ALL_OR_NOTHING)).as(spec.fullName())
                .isTrue();
    }

    @ParameterizedTest
    @MethodSource("commands")
    void everyCommandIsDocumented(CommandSpec spec) {
        assertThat(spec.summary()).matches("[A-Z].{9,}").doesNotContain("\n");
        assertThat(spec.since()).matches("\\d+\\.\\d+\\.\\d+");
        assertThat(spec.group()).isIn(GROUPS);
        assertThat(spec.complexity()).isNotBlank();
        assertThat(spec.arity()).isNotZero();
        if (spec.parent() != null) {
            assertThat(Math.abs(spec.arity())).isGreaterThanOrEqualTo(2);
        }
        boolean hasKeys = spec.firstKey() > 0 || spec.keyFinder() != null;
        assertThat(spec.keyUses().isEmpty()).isEqualTo(!hasKeys);
        assertThat(spec.isWrite() && spec.has(CommandFlag.READONLY)).isFalse();
    }

    @ParameterizedTest
    @MethodSource("commands")
    void everyCommandIsAsTheReferenceHasIt(CommandSpec spec) {
        List<String> expected = reference().get(spec.fullName());
        if (expected == null) {
            if (!spec.name().equals("debug") && !spec.fullName().startsWith("debug|")) {
                assertThat(NOT_IN_REFERENCE).contains(spec.fullName());
            }
            return;
        }
        assertThat(NOT_IN_REFERENCE).doesNotContain(spec.fullName());
        assertThat(facts(spec)).isEqualTo(switch (spec.fullName()) {
            // 7.2 has it so: a script may wait, and does not block.
            case "wait" -> changed(changed(expected, 2, flags -> {
                flags.remove("noscript");
                flags.add("blocking");
            }), 6, categories -> categories.add("@blocking"));
            // 7.2 has an option more.
            case "zrank", "zrevrank" -> changed(expected, 1, arity -> {
                arity.clear();
                arity.add("-3");
            });
            // From here on as 7.4 has it.
            case "command|getkeys", "command|getkeysandflags" -> changed(expected, 1, arity -> {
                arity.clear();
                arity.add("-3");
            });
            case "cluster|shards", "cluster|slots" -> changed(expected, 2, flags -> flags.add("loading"));
            case "msetnx" -> changed(expected, 7, tips -> {
                tips.clear();
                tips.add("-");
            });
            case "latency|reset" -> changed(expected, 7, tips -> {
                tips.clear();
                tips.add("request_policy:all_nodes|response_policy:agg_sum");
            });
            default -> expected;
        });
    }

    @Test
    void theReferenceNamesNoCommandThatIsMissing() {
        assertThat(commands().map(CommandSpec::fullName)).containsAll(reference().keySet());
    }

    private static List<String> changed(List<String> facts, int which,
            java.util.function.Consumer<Set<String>> change) {
        Set<String> words = new TreeSet<>(List.of(facts.get(which).split(",")));
        change.accept(words);
        List<String> changed = new ArrayList<>(facts);
        changed.set(which, String.join(",", words));
        return changed;
    }

    private static List<String> facts(CommandSpec spec) {
        return List.of(spec.fullName(), Integer.toString(spec.arity()),
                sorted(spec.flags().stream().map(CommandFlag::redisName)), Integer.toString(spec.firstKey()),
                Integer.toString(spec.lastKey()), Integer.toString(spec.keyStep()), sorted(spec.categories().stream()),
                orDash(String.join("|", spec.tips())),
                orDash(spec.keyUses().stream().map(CommandTableTest::text).collect(Collectors.joining(" "))));
    }

    private static String text(KeyUse use) {
        String flags = String.join(",", use.flags()) + "@";
        return use.isUnknown()
                ? flags + "unknown"
                : flags + (use.word().isEmpty() ? "" : use.word() + ">") + use.firstKey() + ":"
                        + (use.counted() ? "keynum" : use.lastKey()) + ":" + use.keyStep();
    }

    private static String sorted(Stream<String> words) {
        return orDash(words.sorted().collect(Collectors.joining(",")));
    }

    private static String orDash(String text) {
        return text.isEmpty() ? "-" : text;
    }

    private static Map<String, List<String>> reference() {
        var file = Objects.requireNonNull(CommandTableTest.class.getResourceAsStream("reference-commands.tsv"));
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(file, StandardCharsets.UTF_8))) {
            Map<String, List<String>> facts = new LinkedHashMap<>();
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (!line.startsWith("#")) {
                    List<String> fields = List.of(line.split("\t"));
                    facts.put(fields.getFirst(), fields);
                }
            }
            return facts;
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
