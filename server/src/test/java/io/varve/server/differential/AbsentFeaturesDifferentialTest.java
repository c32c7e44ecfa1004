package io.varve.server.differential;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

import io.varve.server.VarveServer;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.ReferenceRedis;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compares Varve's replies about features that it does not have with those of a real Redis that does not use them:
 * cluster, replicas, functions and scripts. Confined to the test's thread.
 */
class AbsentFeaturesDifferentialTest {
    @RegisterExtension
    static final ServerExtension servers = ServerExtension.withoutServer();

    private static final List<String> COMMANDS = List.of("READONLY", "READONLY x", "READWRITE", "ASKING", "ASKING x",
            "CLUSTER",
            "CLUSTER FOO", "CLUSTER HELP", "CLUSTER ADDSLOTS 1", "CLUSTER ADDSLOTS", "CLUSTER ADDSLOTSRANGE 1 2",
            "CLUSTER BUMPEPOCH", "CLUSTER COUNT-FAILURE-REPORTS a", "CLUSTER COUNTKEYSINSLOT a", "CLUSTER DELSLOTS 1",
            "CLUSTER DELSLOTSRANGE 1 2", "CLUSTER FAILOVER", "CLUSTER FLUSHSLOTS", "CLUSTER FORGET a",
            "CLUSTER GETKEYSINSLOT 1 1",
            "CLUSTER INFO", "CLUSTER KEYSLOT a", "CLUSTER KEYSLOT", "CLUSTER LINKS", "CLUSTER MEET a 1", "CLUSTER MYID",
            "CLUSTER NODES", "CLUSTER NODES x", "CLUSTER REPLICAS a", "CLUSTER REPLICATE a", "CLUSTER RESET",
            "CLUSTER SAVECONFIG",
            "CLUSTER SET-CONFIG-EPOCH 1", "CLUSTER SETSLOT 1 NODE a", "CLUSTER SHARDS", "CLUSTER SLAVES a",
            "CLUSTER SLOTS",
            "REPLICAOF NO ONE", "SLAVEOF NO ONE", "replicaof no one", "REPLICAOF NO", "REPLICAOF a 99999999",
            "REPLICAOF a -1",
            "SLAVEOF a b", "FAILOVER", "FAILOVER ABORT", "FAILOVER TO", "FAILOVER TO a 1", "FAILOVER TO a b",
            "FAILOVER TIMEOUT 0", "FAILOVER TIMEOUT a", "FAILOVER TIMEOUT 5", "FAILOVER TIMEOUT 5 TIMEOUT 5",
            "FAILOVER FORCE",
            "FAILOVER FORCE FORCE", "FAILOVER ABORT FORCE", "FAILOVER foo", "FAILOVER TO a 1 FORCE TIMEOUT 5",
            "SCRIPT", "SCRIPT FOO", "SCRIPT EXISTS",
            "SCRIPT EXISTS a",
            "SCRIPT EXISTS a b 000", "SCRIPT FLUSH", "SCRIPT FLUSH ASYNC", "SCRIPT FLUSH SYNC", "SCRIPT FLUSH FOO",
            "SCRIPT FLUSH SYNC x", "SCRIPT KILL", "SCRIPT KILL x", "MODULE LIST");

    private static VarveServer start() throws IOException {
        return servers.start("maxmemory 64mb");
    }

    @Test
    void aServerWithoutThemAnswersAsRedisDoes() throws IOException, InterruptedException {
        List<String> differences = new ArrayList<>();
        try (ReferenceRedis reference = ReferenceRedis.start(); VarveServer varve = start()) {
            for (String protocol : List.of("2", "3")) {
                try (RawClient theirs = new RawClient(reference.port()); RawClient ours = new RawClient(varve.port())) {
                    theirs.call("HELLO", protocol);
                    ours.call("HELLO", protocol);
                    for (String command : COMMANDS) {
                        String[] words = command.split(" ");
                        for (int i = 0; i < words.length; i++) {
                            words[i] = words[i].replace("\\s", " ").replace("\\n", "\n");
                        }
                        String expected = theirs.call(words).toString();
                        String answer = ours.call(words).toString();
                        if (!answer.equals(expected)) {
                            differences.add(command + ":\n   Redis " + expected + "\n   Varve " + answer);
                        }
                    }
                }
            }
        }
        assertThat(differences).isEmpty();
    }

    /** Without a cluster, an error states that, and nothing changes. */
    @Test
    void unsupportedOperationsAreRefused() throws IOException {
        try (VarveServer varve = start(); RawClient client = new RawClient(varve.port())) {
            assertThat(client.call("SET", "k", "v").text()).isEqualTo("OK");
            assertThat(client.call("ROLE").elements().getFirst().text()).isEqualTo("master");
            assertThat(client.call("GET", "k").text()).isEqualTo("v");
            assertThat(client.call("CLUSTER", "MYSHARDID").text())
                    .isEqualTo("ERR This instance has cluster support disabled");
            assertThat(client.call("CLUSTER", "HELP").isError()).isTrue();
        }
    }

    /** A library that needs a module fails in a way that an operator can look up. */
    @Test
    void unknownCommandsAreCountedByName() throws IOException {
        try (VarveServer varve = start(); RawClient client = new RawClient(varve.port())) {
            assertThat(client.call("INFO").text()).contains("unknown_commands:0").doesNotContain("unknowncmd_");
            for (int i = 0; i < 3; i++) {
                assertThat(client.call("FT.SEARCH", "index", "*").text())
                        .startsWith("ERR unknown command 'FT.SEARCH'");
            }
            assertThat(client.call("module", "load", "a").text())
                    .isEqualTo("ERR unknown subcommand 'load'. Try MODULE HELP.");
            assertThat(client.call("JSON.GET", "k").text()).startsWith("ERR unknown command 'JSON.GET'");
            assertThat(client.call("a\r\nb:c" + "x".repeat(200)).isError()).isTrue();
            assertThat(client.call("GET").text()).isEqualTo("ERR wrong number of arguments for 'get' command");
            assertThat(client.call("INFO", "unknowncommands").text()).isEqualTo("# Unknowncommands\r\n"
                    + "unknowncmd_ft.search:calls=3\r\nunknowncmd_a__b_c" + "x".repeat(42) + ":calls=1\r\n"
                    + "unknowncmd_json.get:calls=1\r\nunknowncmd_module|load:calls=1\r\n");
            assertThat(client.infoLong("unknown_commands")).isEqualTo(6);
            assertThat(client.call("CONFIG", "RESETSTAT").text()).isEqualTo("OK");
            assertThat(client.infoLong("unknown_commands")).isZero();
        }
    }
}
