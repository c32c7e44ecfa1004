package io.varve.server.cluster;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.varve.server.testing.RawClient;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Compares the redirects of two primaries and a replica of the first with those of a real Redis cluster, before, during
 * and after a slot moves from the first to the second. Confined to the test's thread.
 *
 * <p>The keys {@code b} and <code>{b}…</code> are in slot 3300 of the first primary, {@code c} in its slot 7365,
 * {@code a} in slot 15495 of the second.
 */
class RedirectsDifferentialTest {
    /** Each line begins with the number of the member, and a letter if the connection is not its first. */
    private static final String STABLE = """
            0 GET a
            0 SET b 1
            0 SET c 1
            0 MGET b {b}2
            0 MGET a b
            0 MGET b a
            1 GET a
            1 GET b
            0 READONLY
            0 GET a
            0 READWRITE
            2 GET b
            2 EXISTS {b}none
            2 READONLY
            2 EXISTS {b}none
            2 SET b 2
            2 GET a
            2 MULTI
            2 EXISTS {b}none
            2 SET b 2
            2 EXEC
            2 MULTI
            2 EXISTS {b}none
            2 EXEC
            2 WATCH {b}none
            2 UNWATCH
            2 BLPOP {b}list 1
            2 READWRITE
            2 EXISTS {b}none
            2 SPUBLISH {b}channel hello
            2 SPUBLISH a hello
            2 CLUSTER ADDSLOTS 1
            2 CLUSTER SETSLOT 3300 MIGRATING ID1
            2 CLUSTER MYID
            0 MULTI
            0 SET b 1
            0 SET c 1
            0 EXEC
            0 MULTI
            0 GET a
            0 SET b 1
            0 EXEC
            0 MULTI
            0 MGET b c
            0 EXEC
            0 WATCH a
            0 WATCH b
            0 UNWATCH
            0 BLPOP a 1
            0 SSUBSCRIBE a
            0 SPUBLISH a hello
            0 CLUSTER REPLICAS ID2
            0 CLUSTER REPLICAS ID1
            0 CLUSTER COUNT-FAILURE-REPORTS ID1
            0 CLUSTER SETSLOT 3300 MIGRATING ID2
            0 CLUSTER SETSLOT 3300 NODE ID2
            1 CLUSTER SETSLOT 3300 IMPORTING ID2
            0 CLUSTER SETSLOT 3300 NODE ID1
            0 CLUSTER SETSLOT 15495 MIGRATING ID1
            0 CLUSTER ADDSLOTS 15495
            0 CLUSTER SET-CONFIG-EPOCH 9
            0 ASKING
            0 GET a
            """;

    private static final String MOVING = """
            1 CLUSTER SETSLOT 3300 IMPORTING ID0
            0 CLUSTER SETSLOT 3300 MIGRATING ID1
            0 GET b
            0 GET {b}none
            0 MGET b {b}none
            0 MGET {b}none {b}none2
            0 MGET b b
            0 MGET b c
            0 EXISTS {b}none
            0 SET {b}new 1
            0 SET b 1
            0 RENAME b {b}z
            0 DEL b {b}none
            0 MULTI
            0 GET {b}none
            0 EXEC
            0 MULTI
            0 GET b
            0 EXEC
            0 MULTI
            0 GET b
            0 DEL {b}none
            0 EXEC
            0 WATCH {b}none
            0 BLPOP {b}list2 1
            0 SPUBLISH {b}channel2 hello
            0 SORT {b}none
            1 SET {b}new 1
            1 GET {b}new
            1 ASKING
            1 SET {b}new 1
            1 GET {b}new
            1 ASKING
            1 GET {b}new
            1 ASKING
            1 MGET {b}new b
            1 ASKING
            1 MGET {b}new {b}new
            1 ASKING
            1 MSET {b}new 1 {b}other 2
            1 ASKING
            1 PING
            1 GET {b}new
            1 ASKING
            1 MULTI
            1 GET {b}new
            1 SET {b}more 1
            1 EXEC
            1 GET {b}more
            1 MULTI
            1 ASKING
            1 GET {b}new
            1 EXEC
            1 ASKING
            1 RESET
            1 GET {b}new
            1 SPUBLISH {b}channel2 hello
            1 ASKING
            1 SPUBLISH {b}channel2 hello
            1 RESTORE-ASKING {b}restored 0 x
            1 RESTORE {b}restored 0 x
            0 CLUSTER COUNTKEYSINSLOT 3300
            0 CLUSTER GETKEYSINSLOT 3300 10
            1 CLUSTER COUNTKEYSINSLOT 3300
            0 CLUSTER SETSLOT 3300 NODE ID1
            0 MIGRATE 127.0.0.1 PORT1 b 0 5000
            0 MIGRATE 127.0.0.1 PORT1 b 0 5000
            0 GET b
            0 MGET b {b}list
            1 ASKING
            1 GET b
            0 CLUSTER COUNTKEYSINSLOT 3300
            0 SET c 5 EX 1000
            0 MIGRATE 127.0.0.1 PORT1 c 0 5000
            0 GET c
            """;

    private static final String MOVED = """
            0 GET b
            0 SET b 2
            0 SPUBLISH {b}channel hello
            0 BLPOP {b}list 1
            1 GET b
            1 GET {b}new
            1 SET b 2
            1 BLPOP {b}list 0.01
            1 DBSIZE
            0 DBSIZE
            """;

    private static final String DOWN = """
            0 GET b
            0 GET c
            0 SET {c}x 1
            0 SPUBLISH {c}channel hello
            0 CONFIG SET cluster-allow-pubsubshard-when-down no
            0 SPUBLISH {c}channel hello
            0 MULTI
            0 GET c
            0 EXEC
            0 CONFIG SET cluster-allow-reads-when-down yes
            0 GET c
            0 SET c 1
            0 GET {foo}unassigned
            0 GET b
            """;

    @TempDir
    Path folder;

    private final List<String> differences = new ArrayList<>();
    /** A member and its connections, by the first word of a line. */
    private final Map<Members, Map<String, RawClient>> connections = new HashMap<>();

    @Test
    void membersRedirectAsRedisDoes() throws IOException, InterruptedException {
        try (Members redis = Members.ofRedis(folder, 2, 1); Members varve = Members.ofVarve(folder, 2, 1)) {
            run(redis, varve, STABLE);
            wait(redis, varve);
            run(redis, varve, MOVING);
            moveSlot(redis);
            moveSlot(varve);
            assertTold(redis, varve);
            run(redis, varve, MOVED);
            close(redis);
            close(varve);
            disable(redis);
            disable(varve);
            run(redis, varve, DOWN);
            close(redis);
            close(varve);
        }
        assertThat(differences).isEmpty();
    }

    /** One client waits for a list of the slot, one listens to a shard channel, one to that of another slot too. */
    private void wait(Members redis, Members varve) throws IOException {
        for (Members members : List.of(redis, varve)) {
            RawClient blocked = connection(members, "0blocked");
            blocked.queue("BLPOP", "{b}list", "0");
            blocked.flush();
            await().until(() -> members.call(0, "INFO", "clients").text().contains("blocked_clients:1"));
        }
        run(redis, varve, """
                0listener SSUBSCRIBE {b}channel
                0both SSUBSCRIBE c
                0both SSUBSCRIBE {b}channel
                0third HELLO 3
                0third SSUBSCRIBE {b}channel
                """);
    }

    private static void moveSlot(Members members) throws IOException {
        String[] assign = members.resolve("CLUSTER SETSLOT 3300 NODE ID1");
        assertThat(members.call(1, assign).text()).isEqualTo("OK");
        assertThat(members.call(0, assign).text()).isEqualTo("OK");
    }

    /** The waiting client is redirected, and the subscriptions have ended. */
    private void assertTold(Members redis, Members varve) throws IOException {
        for (String client : List.of("0blocked", "0listener", "0both", "0third")) {
            String expected = redis.normalized(connection(redis, client).read().toString());
            assertThat(varve.normalized(connection(varve, client).read().toString())).as(client).isEqualTo(expected);
        }
        run(redis, varve, """
                0blocked PING
                0listener GET c
                0both SPUBLISH c x
                0third GET c
                0 SPUBLISH c hello
                """);
    }

    /** A slot without owner, and until the members notice. */
    private static void disable(Members members) throws IOException {
        assertThat(members.call(0, "CLUSTER", "DELSLOTS", "100", "7366").text()).isEqualTo("OK");
        await().until(() -> members.call(0, "CLUSTER", "INFO").text().contains("cluster_state:fail"));
    }

    private RawClient connection(Members members, String name) {
        return connections.computeIfAbsent(members, _ -> new HashMap<>()).computeIfAbsent(name, _ -> {
            try {
                return new RawClient(members.port(name.charAt(0) - '0'));
            } catch (IOException failed) {
                throw new IllegalStateException(failed);
            }
        });
    }

    private void close(Members members) throws IOException {
        Map<String, RawClient> open = connections.remove(members);
        if (open != null) {
            for (RawClient client : open.values()) {
                client.close();
            }
        }
    }

    private void run(Members redis, Members varve, String steps) throws IOException {
        for (String step : steps.lines().toList()) {
            String expected = answer(redis, step);
            String answer = answer(varve, step);
            // HELLO tells the version.
            if (!answer.equals(expected) && !step.contains("HELLO")) {
                differences.add(step + ":\n   Redis " + expected + "\n   Varve " + answer);
            }
        }
    }

    private String answer(Members members, String step) throws IOException {
        int space = step.indexOf(' ');
        RawClient client = connection(members, step.substring(0, space));
        return members.normalized(client.call(members.resolve(step.substring(space + 1))).toString());
    }
}
