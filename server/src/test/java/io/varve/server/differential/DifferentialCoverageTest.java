package io.varve.server.differential;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.varve.server.command.ServerState;
import io.varve.server.command.registry.CommandFamilies;
import io.varve.server.command.spec.CommandSpec;
import io.varve.server.config.ServerConfig;
import io.varve.server.differential.random.RandomCommands;
import io.varve.server.differential.random.ScriptStep;
import io.varve.server.testing.StubCache;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that every command is compared with a real Redis: {@link RandomCommands} draws it, or this list names the test
 * that compares it. Confined to the test's thread. A new command without a comparison fails this test.
 */
class DifferentialCoverageTest {
    private static final int SCRIPTS = 400;
    private static final int SCRIPT_COMMANDS = 400;
    /** So often at least, with a lawful number of arguments, among all of these. */
    private static final int DRAWN_AT_LEAST = 5;

    /** Why a command is not drawn, and the test classbelow {@code io.varve.server}, that compares it. */
    private record Elsewhere(String reason, String testClass) {}

    private static final Map<String, Elsewhere> ELSEWHERE = Stream.of(
            elsewhere("the same rules in another spelling", "differential.AclDifferentialTest", "acl|getuser",
                    "acl|list"),
            elsewhere("random rules of its own", "differential.AclDifferentialTest", "acl|cat", "acl|deluser",
                    "acl|dryrun",
                    "acl|genpass", "acl|load", "acl|log", "acl|save", "acl|setuser", "acl|users"),
            elsewhere("a text of its own", "AclCommandsTest", "acl|help"),
            elsewhere("changes the notifications of keys", "differential.TrackingDifferentialTest", "client|caching",
                    "client|tracking"),
            elsewhere("draws something else", "command.server.ServerCommandsTest", "lolwut"),
            elsewhere("holds other clients", "command.connection.ClientPauseTest", "client|pause", "client|unpause"),
            elsewhere("younger than the reference", "AdminCommandsTest", "client|setinfo"),
            elsewhere("younger than the reference", "command.key.KeyCommandsTest", "client|no-touch"),
            elsewhere("younger than the reference: a model", "command.hash.HashTimesModelTest", "hexpire", "hexpireat",
                    "hexpiretime", "hgetdel", "hgetex", "hpersist", "hpexpire", "hpexpireat", "hpexpiretime", "hpttl",
                    "hsetex", "httl"),
            elsewhere("statistics of all clients", "differential.KeyspaceCountsDifferentialTest", "config|resetstat"),
            elsewhere("not allowed by the reference", "AdminCommandsTest", "debug|help", "debug|object", "debug|sleep"),
            elsewhere("not allowed by the reference", "command.introspection.DebugCommandsTest",
                    "debug|aof-flush-sleep",
                    "debug|assert", "debug|change-repl-id", "debug|client-eviction", "debug|clusterlink",
                    "debug|config-rewrite-force-all", "debug|crash-and-recover", "debug|drop-cluster-packet-filter",
                    "debug|error", "debug|htstats", "debug|htstats-key", "debug|jmap", "debug|leak", "debug|listpack",
                    "debug|loadaof", "debug|log", "debug|mallctl", "debug|mallctl-str", "debug|oom", "debug|panic",
                    "debug|pause-cron", "debug|populate", "debug|protocol", "debug|quicklist",
                    "debug|quicklist-packed-threshold", "debug|replicate", "debug|replybuffer", "debug|restart",
                    "debug|sdslen", "debug|segfault", "debug|set-disable-deny-scripts",
                    "debug|set-skip-checksum-validation", "debug|stringmatch-len", "debug|stringmatch-test",
                    "debug|structsize"),
            elsewhere("not allowed by the reference", "command.introspection.DebugAccessTest",
                    "debug|set-active-expire"),
            elsewhere("its client receives no further replies", "differential.MonitorDifferentialTest", "monitor"),
            elsewhere("takes a second there", "command.hyperloglog.HyperLogLogCommandsTest", "pfselftest"),
            elsewhere("ends the connection, or its protocol", "ConnectionTest", "quit", "reset"),
            elsewhere("not allowed by the reference", "differential.stored.SnapshotDifferentialTest", "debug|digest",
                    "debug|digest-value", "debug|reload"),
            elsewhere("writes a file there", "command.persistence.SnapshotTest", "bgsave", "save"),
            elsewhere("makes the connection a replica's", "replication.ReplicationProtocolTest", "psync",
                    "replconf",
                    "sync"),
            elsewhere("younger than the reference", "replication.ReplicationProtocolTest", "waitaof"),
            elsewhere("has no log there", "command.persistence.LogCommandsTest", "bgrewriteaof"),
            elsewhere("has another server", "cluster.RedirectsDifferentialTest", "migrate", "restore-asking"),
            elsewhere("not in the reference", "command.varve.CurveCommandsTest", "varve.mrc"),
            elsewhere("not in the reference", "command.varve.PenaltyCommandsTest", "varve.class|default",
                    "varve.class|help", "varve.class|list", "varve.class|set"),
            elsewhere("not in the reference", "command.varve.HotKeyCommandsTest", "varve.hotkeys"),
            elsewhere("not in the reference", "command.varve.PinCommandsTest", "varve.pin", "varve.unpin"),
            elsewhere("not in the reference", "cluster.HotKeyCopiesTest", "varve.copies", "varve.copy",
                    "varve.copylease", "varve.replicate", "varve.uncopy"),
            elsewhere("of a server without a feature", "differential.AbsentFeaturesDifferentialTest", "asking",
                    "cluster|addslots",
                    "cluster|addslotsrange", "cluster|bumpepoch", "cluster|count-failure-reports",
                    "cluster|countkeysinslot", "cluster|delslots", "cluster|delslotsrange", "cluster|failover",
                    "cluster|flushslots", "cluster|forget", "cluster|getkeysinslot", "cluster|help", "cluster|info",
                    "cluster|keyslot", "cluster|links", "cluster|meet", "cluster|myid", "cluster|myshardid",
                    "cluster|nodes", "cluster|replicas", "cluster|replicate", "cluster|reset", "cluster|saveconfig",
                    "cluster|set-config-epoch", "cluster|setslot", "cluster|shards", "cluster|slaves",
                    "cluster|slots", "failover", "readonly", "readwrite", "replicaof", "script|help", "slaveof"),
            elsewhere("is refused", "command.script.ScriptCommandsTest", "script|debug"),
            elsewhere("ends the server", "process.ProcessEndIT", "shutdown"))
            .flatMap(entries -> entries.entrySet().stream())
            .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));

    private static Map<String, Elsewhere> elsewhere(String reason, String testClass, String... commands) {
        return Arrays.stream(commands)
                .collect(Collectors.toMap(Function.identity(), _ -> new Elsewhere(reason, testClass)));
    }

    /** Those that run something: a container without a subcommand is an error. */
    private static Map<String, CommandSpec> commands() {
        ServerConfig config = ServerConfig.defaults().with("maxmemory", "64mb");
        var cache = StubCache.create(config.cacheConfig());
        Map<String, CommandSpec> commands = new TreeMap<>();
        CommandFamilies.table(new ServerState(cache, config, config.cacheConfig().ticker(), _ -> {})).all().stream()
                .filter(spec -> spec.isRunnable()).forEach(spec -> commands.put(spec.fullName(), spec));
        return commands;
    }

    private static Set<String> drawn(Map<String, CommandSpec> commands) {
        Map<String, Integer> counts = new TreeMap<>();
        for (int seed = 0; seed < SCRIPTS; seed++) {
            for (ScriptStep step : new RandomCommands(seed, true).script(SCRIPT_COMMANDS)) {
                List<String> words = step.arguments();
                String name = words.getFirst().toLowerCase(Locale.ROOT);
                String part = words.size() < 2 ? name : name + "|" + words.get(1).toLowerCase(Locale.ROOT);
                CommandSpec spec = commands.containsKey(part) ? commands.get(part) : commands.get(name);
                if (spec != null && spec.acceptsCount(words.size())) {
                    counts.merge(spec.fullName(), 1, Integer::sum);
                }
            }
        }
        counts.values().removeIf(count -> count < DRAWN_AT_LEAST);
        return counts.keySet();
    }

    @Test
    void everyCommandIsDrawnOrComparedElsewhere() {
        Map<String, CommandSpec> commands = commands();
        Set<String> drawn = drawn(commands);
        Set<String> forgotten = new TreeSet<>(commands.keySet());
        forgotten.removeAll(drawn);
        forgotten.removeAll(ELSEWHERE.keySet());
        assertThat(forgotten).as("neither drawn by a generator nor compared elsewhere").isEmpty();
        assertThat(ELSEWHERE.keySet()).as("there are no others").isSubsetOf(commands.keySet());
        assertThat(ELSEWHERE.keySet()).as("they are drawn, too").doesNotContainAnyElementsOf(drawn);
    }

    /** In the class or in what it works with, which stands beside it. */
    @Test
    void theTestsElsewhereAreThereAndNameTheCommands() {
        ELSEWHERE.forEach((command, elsewhere) -> {
            String sources = sources(elsewhere.testClass);
            for (String word : command.split("\\|")) {
                assertThat(Pattern.compile("(?i)(?<![\\w-])" + word + "(?![\\w-])").matcher(sources).find())
                        .as("%s is named by %s (%s)", command, elsewhere.testClass, elsewhere.reason).isTrue();
            }
        });
    }

    private static String sources(String testClass) {
        Path file = Path.of("src/test/java/io/varve/server", testClass.replace('.', '/') + ".java");
        assertThat(file).isRegularFile();
        try (Stream<Path> beside = Files.list(file.getParent())) {
            String source = Files.readString(file);
            StringBuilder all = new StringBuilder(source);
            for (Path other : beside.toList()) {
                String name = other.getFileName().toString().replace(".java", "");
                if (name.matches("[A-Z]\\w+") && source.contains(name)) {
                    all.append(Files.readString(other));
                }
            }
            return all.toString();
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
