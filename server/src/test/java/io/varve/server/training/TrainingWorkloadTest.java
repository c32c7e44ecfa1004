package io.varve.server.training;

import java.io.IOException;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.net.SocketFactory;

import io.varve.server.command.CommandTable;
import io.varve.server.command.ServerState;
import io.varve.server.command.registry.CommandFamilies;
import io.varve.server.command.spec.CommandSpec;
import io.varve.server.config.ServerConfig;
import io.varve.server.testing.ServerExtension;
import io.varve.server.testing.StubCache;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests that the training workload runs commands of each family without an error. Confined to the test's thread. */
class TrainingWorkloadTest {
    private static final Pattern CALLED = Pattern.compile("(?m)^cmdstat_([^:]+):calls=");

    @RegisterExtension
    final ServerExtension server = ServerExtension.with("maxmemory 64mb");

    private static CommandTable table() {
        ServerConfig config = ServerConfig.defaults().with("maxmemory", "64mb");
        var cache = StubCache.create(config.cacheConfig());
        return CommandFamilies.table(new ServerState(cache, config, config.cacheConfig().ticker(), _ -> {}));
    }

    /** The package of its handler. */
    private static String family(CommandTable table, CommandSpec command) {
        return table.handler(command).getClass().getPackageName();
    }

    @ParameterizedTest
    @CsvSource({"2,1,1", "3,3,16", "2,3,64"})
    void everyFamilyIsTrained(String protocol, int connections, int pipeline) throws IOException {
        try (TrainingClient client = new TrainingClient(SocketFactory.getDefault(), server.port(), connections);
                TrainingClient other = new TrainingClient(SocketFactory.getDefault(), server.port(), 1)) {
            client.onEach("HELLO", protocol);
            other.onEach("HELLO", protocol);
            new TrainingWorkload(client, other, pipeline, 20).run();
            assertThat(client.firstError() + other.firstError()).isEmpty();
            client.onEach("HELLO", "2");
            Set<String> called = CALLED.matcher(client.call("INFO", "commandstats")).results()
                    .map(match -> match.group(1)).collect(Collectors.toCollection(TreeSet::new));
            CommandTable table = table();
            Set<String> trained = new TreeSet<>();
            Set<String> families = new TreeSet<>();
            for (CommandSpec command : table.all()) {
                if (command.isRunnable()) {
                    families.add(family(table, command));
                    if (called.contains(command.fullName())) {
                        trained.add(family(table, command));
                    }
                }
            }
            // Each of its commands is an error at a server that is no member of a cluster.
            assertThat(families.remove("io.varve.server.command.cluster")).isTrue();
            assertThat(families).hasSizeGreaterThan(15);
            assertThat(trained).isEqualTo(families);
        }
    }
}
