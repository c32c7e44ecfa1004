package io.varve.server;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.varve.server.testing.RawClient;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Compares CLIENT LIST with a real Redis, and tests that a killed connection is closed by the time of the reply.
 * Confined to the test's thread; the connections are on several event loops.
 */
@Timeout(120)
class ClientListTest {
    private static final int ROUNDS = 1_000;

    @RegisterExtension
    static final ServerExtension varve = ServerExtension.withReference("maxmemory 64mb", "io-threads 4");

    /** The line of the client that connected last: one of an earlier test may not have disconnected yet. */
    private static String last(String list) {
        return list.lines().toList().getLast();
    }

    /** The only client: those of an earlier test have disconnected. */
    private static RawClient alone() throws IOException {
        RawClient client = new RawClient(varve.port());
        await().until(() -> client.infoLong("connected_clients") == 1);
        return client;
    }

    private static long field(String line, String name) {
        Matcher matcher = Pattern.compile("(?:^| )" + name + "=(-?\\d+)").matcher(line);
        assertThat(matcher.find()).as("%s in %s", name, line).isTrue();
        return Long.parseLong(matcher.group(1));
    }

    // --- figures

    /** The last reply but one shows what has been received and is being executed. */
    @ParameterizedTest
    @ValueSource(strings = {"CLIENT LIST", "CLIENT INFO", "client  list", "*2\r\n$6\r\nCLIENT\r\n$4\r\nLIST",
            "PING\r\nCLIENT LIST", "*2\r\n$6\r\nCLIENT\r\n$4\r\nINFO\r\nPING", "CLIENT LIST TYPE normal",
            "SET k v\r\nGET k\r\nCLIENT LIST\r\nPING\r\n*1\r\n$4\r\nPI"})
    void qbufAndArgvMem_ofOwnCommand_areAsInRedis(String sent) throws IOException {
        List<String> figures = new ArrayList<>();
        for (int port : new int[] {varve.reference().port(), varve.port()}) {
            try (RawClient client = new RawClient(port)) {
                client.send(sent + "\r\n");
                String line;
                do {
                    line = client.read().text();
                } while (!line.startsWith("id="));
                line = last(line);
                figures.add("qbuf=" + field(line, "qbuf") + " argv-mem=" + field(line, "argv-mem"));
                assertThat(field(line, "qbuf-free")).isNotNegative();
                assertThat(field(line, "tot-mem"))
                        .isGreaterThan(field(line, "qbuf") + field(line, "qbuf-free") + field(line, "argv-mem"));
            }
        }
        assertThat(figures.get(1)).isEqualTo(figures.get(0));
    }

    @Test
    void qbuf_ofClientList_is26() throws IOException {
        try (RawClient client = alone()) {
            String line = client.call("CLIENT", "LIST").text();
            assertThat(field(line, "qbuf")).isEqualTo(26);
            assertThat(field(line, "argv-mem")).isEqualTo(10);
        }
    }

    @Test
    void argvMem_ofBlockedClient_isItsCommands() throws IOException {
        for (int port : new int[] {varve.reference().port(), varve.port()}) {
            try (RawClient waiting = new RawClient(port); RawClient other = new RawClient(port)) {
                String id = waiting.call("CLIENT", "ID").text();
                waiting.queue("BLPOP", "nokey", "0");
                waiting.flush();
                await().until(() -> other.call("CLIENT", "LIST", "ID", id).text().contains(" flags=b "));
                String line = other.call("CLIENT", "LIST", "ID", id).text();
                assertThat(field(line, "argv-mem")).isEqualTo(11);
                assertThat(field(line, "tot-mem")).isGreaterThan(11);
                other.call("CLIENT", "UNBLOCK", id);
                waiting.read();
                await().until(() -> field(other.call("CLIENT", "LIST", "ID", id).text(), "argv-mem") == 0);
            }
        }
    }

    // --- order across connections

    @Test
    void kill_isAnswered_victimIsGoneFromList() throws IOException {
        try (RawClient killer = alone()) {
            for (int i = 0; i < ROUNDS; i++) {
                try (RawClient victim = new RawClient(varve.port())) {
                    String id = victim.call("CLIENT", "ID").text();
                    killer.queue("CLIENT", "KILL", "ID", id);
                    killer.queue("CLIENT", "LIST");
                    killer.queue("CLIENT", "LIST", "ID", id);
                    killer.queue("CLIENT", "KILL", "ID", id);
                    killer.queue("CLIENT", "UNBLOCK", id);
                    killer.flush();
                    assertThat(killer.read().integer()).isEqualTo(1);
                    assertThat(killer.read().text()).doesNotContain("id=" + id + " ");
                    assertThat(killer.read().text()).isEmpty();
                    assertThat(killer.read().integer()).isZero();
                    assertThat(killer.read().integer()).isZero();
                    assertThat(killer.infoLong("connected_clients")).isEqualTo(1);
                    assertThat(victim.readToEnd()).isEmpty();
                }
            }
        }
    }

    @Test
    void kill_ofManyAtOnce_leavesNoneInList() throws IOException {
        try (RawClient killer = alone()) {
            for (String how : List.of("TYPE normal", "SKIPME yes", "USER default")) {
                List<RawClient> victims = new ArrayList<>();
                for (int i = 0; i < 20; i++) {
                    victims.add(new RawClient(varve.port()));
                    victims.getLast().call("PING");
                }
                assertThat(killer.call(("CLIENT KILL " + how).split(" ")).integer()).isEqualTo(20);
                assertThat(killer.call("CLIENT", "LIST").text().lines()).hasSize(1);
                for (RawClient victim : victims) {
                    assertThat(victim.readToEnd()).isEmpty();
                    victim.close();
                }
            }
        }
    }

    /**
     * An acknowledged change has taken effect: no later message of another connection is counted for the subscription.
     */
    @ParameterizedTest
    @ValueSource(strings = {"SUBSCRIBE UNSUBSCRIBE PUBLISH", "PSUBSCRIBE PUNSUBSCRIBE PUBLISH",
            "SSUBSCRIBE SUNSUBSCRIBE SPUBLISH"})
    void unsubscribe_afterTheReply_noMessageArrives(String words) throws IOException {
        String[] verbs = words.split(" ");
        try (RawClient listener = new RawClient(varve.port()); RawClient publisher = new RawClient(varve.port())) {
            for (int i = 0; i < ROUNDS; i++) {
                listener.call(verbs[0], "channel");
                assertThat(publisher.call(verbs[2], "channel", "one").integer()).isEqualTo(1);
                listener.read();
                listener.call(verbs[1], "channel");
                assertThat(publisher.call(verbs[2], "channel", "two").integer()).isZero();
            }
            assertThat(listener.call("PING").text()).isEqualTo("PONG");
        }
    }
}
