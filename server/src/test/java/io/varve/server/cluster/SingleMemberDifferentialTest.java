package io.varve.server.cluster;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Compares one member, which has no slots at first and then all of them, with a real Redis: all commands of CLUSTER,
 * and the commands that a cluster refuses. Confined to the test's thread.
 */
class SingleMemberDifferentialTest {
    private static final Pattern ID = Pattern.compile("[0-9a-f]{40}");
    private static final Pattern BUS_PORT = Pattern.compile("@\\d+");

    /** Without slots. {@code |} separates commands of one connection. */
    private static final List<String> WITHOUT_SLOTS = List.of("CLUSTER RESET HARD", "CONFIG GET databases", "SELECT 1",
            "SELECT 0", "SELECT a", "SELECT 99", "SELECT 99999999999", "SELECT -1", "MOVE a 1", "SWAPDB 0 1",
            "COPY {a} {a}b DB 1", "GET a", "MGET a b", "CLUSTER INFO", "CLUSTER NODES", "CLUSTER SLOTS",
            "CLUSTER SHARDS", "CLUSTER LINKS", "CLUSTER KEYSLOT a", "CLUSTER KEYSLOT {a}b", "CLUSTER KEYSLOT {}a",
            "CLUSTER KEYSLOT {a", "CLUSTER KEYSLOT a{b}{c}", "CLUSTER", "CLUSTER FOO", "CLUSTER COUNTKEYSINSLOT a",
            "CLUSTER COUNTKEYSINSLOT 20000", "CLUSTER GETKEYSINSLOT 1 -1", "CLUSTER GETKEYSINSLOT -1 1",
            "CLUSTER GETKEYSINSLOT a 1", "CLUSTER ADDSLOTS a", "CLUSTER ADDSLOTS 1 1", "CLUSTER ADDSLOTS 20000",
            "CLUSTER ADDSLOTS 1", "CLUSTER ADDSLOTS 1", "CLUSTER ADDSLOTS 0 1", "CLUSTER DELSLOTS 2",
            "CLUSTER DELSLOTS 1 1", "CLUSTER ADDSLOTSRANGE 3 2", "CLUSTER ADDSLOTSRANGE 3 4 5",
            "CLUSTER ADDSLOTSRANGE 3 4 4 5", "CLUSTER ADDSLOTSRANGE 3 x", "CLUSTER DELSLOTSRANGE 3 4 4 5",
            "CLUSTER SETSLOT 1 FOO a", "CLUSTER SETSLOT 1 MIGRATING a", "CLUSTER SETSLOT 2 MIGRATING a",
            "CLUSTER SETSLOT 1 IMPORTING a", "CLUSTER SETSLOT 2 IMPORTING a", "CLUSTER SETSLOT 1 NODE a",
            "CLUSTER SETSLOT 1 STABLE", "CLUSTER SETSLOT a STABLE", "CLUSTER SETSLOT 1 STABLE x",
            "CLUSTER SET-CONFIG-EPOCH a", "CLUSTER SET-CONFIG-EPOCH -1", "CLUSTER SET-CONFIG-EPOCH 5",
            "CLUSTER SET-CONFIG-EPOCH 6", "CLUSTER BUMPEPOCH", "CLUSTER RESET FOO", "CLUSTER RESET FOO x",
            "CLUSTER REPLICAS a", "CLUSTER SLAVES x", "CLUSTER COUNT-FAILURE-REPORTS a", "CLUSTER FORGET a",
            "CLUSTER REPLICATE a", "CLUSTER FAILOVER", "CLUSTER FAILOVER x", "CLUSTER FAILOVER x y",
            "CLUSTER SAVECONFIG", "READONLY", "READWRITE", "ASKING", "READONLY x", "SORT a BY x* GET #",
            "INFO cluster", "CLUSTER FLUSHSLOTS", "SSUBSCRIBE a b", "SPUBLISH a b", "PUBLISH a b", "EXEC",
            "MULTI|GET a|EXEC", "RESTORE-ASKING a 0 x", "MIGRATE 127.0.0.1 1 a 0 1", "CLUSTER ADDSLOTSRANGE 0 16383");

    private static final List<String> WITH_ALL_SLOTS = List.of("CLUSTER SLOTS", "CLUSTER SHARDS", "CLUSTER INFO",
            "HELLO 3|CLUSTER SLOTS|CLUSTER SHARDS|CLUSTER LINKS", "MULTI|SET a 1|SET b 1|EXEC",
            "MULTI|MGET a b|SET a 1|EXEC", "MGET a b", "SSUBSCRIBE a b", "SPUBLISH a b",
            "MULTI|SPUBLISH a b|SET b 1|EXEC", "SET a 1|MOVE a 1|MOVE a 0|COPY a {a}b DB 1|COPY a {a}b DB 0",
            "COPY a b DB 1", "EXISTS a b",
            "RPUSH l 1 2|SORT l BY x*|SORT l BY nosort GET x*|SORT l GET #|SORT l GET x|SORT l BY {l}*|SORT l",
            "SORT l STORE z", "SORT l STORE {l}z", "SUNSUBSCRIBE a b", "SUNSUBSCRIBE", "CLUSTER RESET",
            "CLUSTER FLUSHSLOTS", "CLUSTER COUNTKEYSINSLOT 15495", "CLUSTER GETKEYSINSLOT 15495 0", "WATCH a b",
            "WATCH a {a}b|UNWATCH", "RENAME a b", "SINTERSTORE {a}x a b", "ZUNIONSTORE a 2 {a}b c",
            "LMOVE a b LEFT LEFT", "BLPOP a b 1", "BLMOVE a b LEFT LEFT 1", "BITOP NOT a b", "PFMERGE a b",
            "MSETNX a 1 b 2", "SDIFF a b", "GEORADIUS a 1 1 1 m STORE b", "OBJECT ENCODING b", "TOUCH a b",
            "EXISTS a {a}b", "UNLINK a b", "SMOVE a b c", "MIGRATE 127.0.0.1 1 none 0 1", "MIGRATE 127.0.0.1 1 l 0 9",
            "MIGRATE 127.0.0.1 1 l x 9", "MIGRATE 127.0.0.1 1 l 0 x", "MIGRATE 127.0.0.1 1 l 0 9 FOO",
            "MIGRATE 127.0.0.1 1 l 0 9 AUTH", "MIGRATE 127.0.0.1 1 l 0 9 AUTH2 x", "MIGRATE 127.0.0.1 1 l 0 9 KEYS l",
            "RESTORE-ASKING {l}r 0 x", "COMMAND INFO migrate restore-asking asking readonly readwrite",
            "COMMAND GETKEYS MIGRATE h 1 a 0 9", "FLUSHALL", "CLUSTER FLUSHSLOTS", "GET a", "CLUSTER RESET",
            "CLUSTER RESET HARD", "CLUSTER NODES");

    @TempDir
    Path folder;

    @Test
    void oneMemberAnswersAsRedisDoes() throws IOException, InterruptedException {
        List<String> differences = new ArrayList<>();
        try (Members redis = Members.ofRedis(folder, 1, 0); Members varve = Members.ofVarve(folder, 1, 0)) {
            redis.call(0, "CLUSTER", "RESET", "HARD");
            redis.call(0, "CONFIG", "SET", "cluster-announce-ip", Members.HOST);
            WITHOUT_SLOTS.forEach(step -> compare(redis, varve, step, differences));
            await().until(() -> redis.call(0, "CLUSTER", "INFO").text().contains("cluster_state:ok"));
            WITH_ALL_SLOTS.forEach(step -> compare(redis, varve, step, differences));
            RawReply help = varve.call(0, "CLUSTER", "HELP");
            RawReply theirs = redis.call(0, "CLUSTER", "HELP");
            // The last line is "Prints this help." there.
            assertThat(help.elements().subList(0, help.elements().size() - 1))
                    .isEqualTo(theirs.elements().subList(0, theirs.elements().size() - 1));
        }
        assertThat(differences).isEmpty();
    }

    private static void compare(Members redis, Members varve, String step, List<String> differences) {
        String expected = answers(redis, step);
        String answers = answers(varve, step);
        if (!answers.equals(expected)) {
            differences.add(step + ":\n   Redis " + expected + "\n   Varve " + answers);
        }
    }

    private static String answers(Members members, String step) {
        StringBuilder answers = new StringBuilder();
        try (RawClient client = new RawClient(members.port(0))) {
            for (String command : step.split("\\|")) {
                RawReply answer = client.call(members.resolve(command));
                // HELLO tells the version.
                answers.append(command.startsWith("HELLO") ? "" : answer).append(' ');
            }
        } catch (IOException failed) {
            throw new IllegalStateException(step, failed);
        }
        String text = members.normalized(answers.toString()).replace(Integer.toString(members.port(0)), "PORT");
        return BUS_PORT.matcher(ID.matcher(text).replaceAll("ID")).replaceAll("@0");
    }
}
