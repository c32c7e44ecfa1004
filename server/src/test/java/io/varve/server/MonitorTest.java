package io.varve.server;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/** MONITOR over sockets, as Redis 7.0.15 shows it. Confined to the test's thread. */
public class MonitorTest {
    public static final Pattern LINE = Pattern.compile("\\d{10,}\\.\\d{6} \\[(\\d+) (\\S+)] (.*)");

    @RegisterExtension
    final ServerExtension server = ServerExtension.with("io-threads 4", "maxmemory 64mb",
            "client-output-buffer-limit pubsub 1mb 0 0");
    private RawClient monitor;
    private RawClient client;

    @BeforeEach
    void start() throws IOException {
        monitor = server.connect();
        client = server.connect();
        assertThat(monitor.command("MONITOR")).isEqualTo("+OK\r\n");
    }

    private static void send(RawClient to, String... commands) throws IOException {
        for (String command : commands) {
            to.command(command.split(" "));
        }
    }

    /** The next line: the database and what was said. */
    private static String line(RawClient from) throws IOException {
        RawReply reply = from.read();
        assertThat(reply.kind()).isEqualTo('+');
        Matcher matcher = LINE.matcher(reply.text());
        assertThat(matcher.matches()).as(reply.text()).isTrue();
        assertThat(matcher.group(2)).matches("127\\.0\\.0\\.1:\\d+");
        return matcher.group(1) + " " + matcher.group(3);
    }

    private void assertShown(String... lines) throws IOException {
        for (String line : lines) {
            assertThat(line(monitor)).isEqualTo(line);
        }
    }

    @Test
    void commandsAreShownAsTheyCame() throws IOException {
        client.command("SET", "a", "b c\"d\\e");
        client.command("set", "k", "a\0\r\n\t\b\007\377\033\177'");
        send(client, "get nosuch", "SELECT 3", "set x y", "incr x", "PING", "echo x", "select 0", "object freq a",
                "client setname x", "info server", "reset", "WATCH a");
        assertShown("0 \"SET\" \"a\" \"b c\\\"d\\\\e\"",
                "0 \"set\" \"k\" \"a\\x00\\r\\n\\t\\b\\a\\xff\\x1b\\x7f'\"", "0 \"get\" \"nosuch\"",
                "3 \"SELECT\" \"3\"", "3 \"set\" \"x\" \"y\"", "3 \"incr\" \"x\"", "3 \"PING\"", "3 \"echo\" \"x\"",
                "0 \"select\" \"0\"", "0 \"object\" \"freq\" \"a\"", "0 \"client\" \"setname\" \"x\"",
                "0 \"info\" \"server\"", "0 \"reset\"", "0 \"WATCH\" \"a\"");
    }

    @Test
    void administratorsAndWhatDidNotRunAreNotShown() throws IOException {
        send(client, "config set maxmemory-samples 5", "config get port", "client list", "slowlog len",
                "latency latest", "nosuch a", "get", "client nosuch", "set", "debug sleep 0", "ping");
        assertShown("0 \"ping\"");
    }

    @Test
    void secretsAreNotShown() throws IOException {
        send(client, "auth secret", "AUTH default secret", "hello 2 auth default secret setname me",
                "config set requirepass secret", "ping", "auth secret");
        assertShown("0 \"auth\" \"(redacted)\"", "0 \"AUTH\" \"(redacted)\" \"(redacted)\"",
                "0 \"hello\" \"2\" \"auth\" \"(redacted)\" \"(redacted)\" \"setname\" \"me\"", "0 \"ping\"",
                "0 \"auth\" \"(redacted)\"");
        try (RawClient stranger = new RawClient(server.port())) {
            send(stranger, "get a", "hello 3");
            assertShown("0 \"hello\" \"3\"");
        }
    }

    @Test
    void aTransactionIsShownWhenItRuns() throws IOException {
        send(client, "MULTI", "set a 1", "select 2", "get a", "EXEC", "select 0", "multi", "incr", "exec", "multi",
                "set a 1", "discard", "exec", "multi", "exec x", "discard", "multi", "ping");
        assertShown("0 \"MULTI\"", "0 \"set\" \"a\" \"1\"", "2 \"select\" \"2\"", "2 \"get\" \"a\"", "2 \"EXEC\"",
                "0 \"select\" \"0\"", "0 \"multi\"", "0 \"exec\"", "0 \"multi\"", "0 \"discard\"", "0 \"exec\"",
                // One that is refused ends the transaction, and is shown; what is refused or queued beside it is not.
                "0 \"multi\"", "0 \"exec\" \"x\"", "0 \"discard\"", "0 \"multi\"");
    }

    @Test
    void deniedCommandsAreNotShown() throws IOException {
        try (RawClient other = new RawClient(server.port())) {
            send(client, "acl setuser u on >secret +@all ~a", "auth u secret", "get b", "multi", "get a", "set a 1");
            send(other, "acl setuser u -set", "ping");
            send(client, "exec", "acl setuser u +set", "hello 2 setname auth auth u secret");
        }
        assertShown("0 \"auth\" \"(redacted)\" \"(redacted)\"", "0 \"multi\"", "0 \"ping\"", "0 \"get\" \"a\"",
                "0 \"exec\"",
                "0 \"hello\" \"2\" \"setname\" \"auth\" \"(redacted)\" \"(redacted)\" \"(redacted)\"");
    }

    /** Its command re-runs when an element arrives. */
    @Test
    void aBlockedCommandIsShownWhenItBlocks() throws IOException {
        try (RawClient waiting = new RawClient(server.port())) {
            waiting.send("BLPOP k 0\r\nBLPOP k 0.001\r\n");
            assertShown("0 \"BLPOP\" \"k\" \"0\"");
            client.command("RPUSH", "k", "a");
            assertThat(waiting.reply()).contains("$1\r\nk\r\n$1\r\na\r\n");
            assertThat(waiting.reply()).isEqualTo("*-1\r\n");
            client.command("PING");
            List<String> lines = new ArrayList<>();
            while (lines.isEmpty() || !lines.getLast().equals("0 \"PING\"")) {
                lines.add(line(monitor));
            }
            assertThat(lines).containsExactlyInAnyOrder("0 \"RPUSH\" \"k\" \"a\"", "0 \"BLPOP\" \"k\" \"0.001\"",
                    "0 \"PING\"");
        }
    }

    /**
     * While a key is reserved for a client that waited for it, other clients' commands on the key are delayed and
     * re-run.
     */
    @Test
    void eachCommandOnAKeyThatIsWaitedForIsShownOnce() throws IOException {
        int each = 300;
        String[] kinds = {"BLPOP k 0", "RPUSH k x", "LLEN k"};
        List<RawClient> clients = new ArrayList<>();
        try {
            for (int i = 0; i < 2 * kinds.length; i++) {
                clients.add(new RawClient(server.port()));
            }
            for (int n = 0; n < each; n++) {
                for (int i = 0; i < clients.size(); i++) {
                    clients.get(i).queue(kinds[i % kinds.length].split(" "));
                    clients.get(i).flush();
                }
            }
            for (RawClient one : clients) {
                for (int n = 0; n < each; n++) {
                    assertThat(one.read().isError()).isFalse();
                }
            }
            Map<String, Integer> shown = new HashMap<>();
            for (int i = 0; i < each * clients.size(); i++) {
                shown.merge(line(monitor).replaceFirst("^0 ", "").replace("\"", ""), 1, Integer::sum);
            }
            assertThat(shown).isEqualTo(Map.of("BLPOP k 0", 2 * each, "RPUSH k x", 2 * each, "LLEN k", 2 * each));
            client.command("PING");
            assertShown("0 \"PING\"");
        } finally {
            for (RawClient one : clients) {
                one.close();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"2", "3"})
    void bothProtocolsHaveLines(String protocol) throws IOException {
        try (RawClient other = new RawClient(server.port())) {
            other.command("HELLO", protocol);
            assertThat(other.command("MONITOR")).isEqualTo("+OK\r\n");
            client.command("get", "x");
            assertThat(line(other)).isEqualTo("0 \"get\" \"x\"");
            assertThat(line(monitor)).startsWith("0 \"HELLO\"");
            assertThat(line(monitor)).isEqualTo("0 \"get\" \"x\"");
        }
    }

    @Test
    void aMonitorSeesItselfAndMayUseNoKey() throws IOException {
        monitor.send("GET a\r\nPING\r\nMULTI\r\nSET a 1\r\nEXEC\r\n");
        assertThat(monitor.reply()).isEqualTo("-ERR Replica can't interact with the keyspace\r\n");
        List<String> replies = new ArrayList<>();
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < 7; i++) {
            RawReply reply = monitor.read();
            Matcher matcher = LINE.matcher(reply.text());
            if (matcher.matches()) {
                lines.add(matcher.group(3));
            } else {
                replies.add(reply.text());
            }
        }
        assertThat(replies).containsExactly("PONG", "OK", "ERR Replica can't interact with the keyspace",
                "EXECABORT Transaction discarded because of previous errors.");
        assertThat(lines).containsExactly("\"PING\"", "\"MULTI\"", "\"EXEC\"");
        monitor.send("MONITOR\r\nECHO again\r\n");
        assertThat(monitor.reply()).as("the second is not answered").isEqualTo("$5\r\nagain\r\n");
        assertShown("0 \"ECHO\" \"again\"");
    }

    @Test
    void itEndsWithReset() throws IOException {
        assertThat(monitor.command("RESET")).isEqualTo("+RESET\r\n");
        send(client, "get a", "get b");
        assertThat(monitor.command("GET", "a")).isEqualTo("$-1\r\n");
        assertThat(client.command("CLIENT", "LIST")).doesNotContain(" flags=O ");
    }

    @Test
    void itCannotBeginWithinATransaction() throws IOException {
        send(client, "MULTI", "MONITOR");
        assertThat(client.command("EXEC"))
                .isEqualTo("*1\r\n-ERR MONITOR isn't allowed for DENY BLOCKING client\r\n");
        assertThat(client.command("PING")).isEqualTo("+PONG\r\n");
        assertThat(client.command("MONITOR", "x"))
                .isEqualTo("-ERR wrong number of arguments for 'monitor' command\r\n");
    }

    @Test
    void itIsAmongTheClients() throws IOException {
        assertThat(client.command("CLIENT", "LIST").lines().filter(line -> line.contains(" flags=O "))).hasSize(1)
                .allSatisfy(line -> assertThat(line).contains(" cmd=monitor "));
        assertThat(client.call("CLIENT", "LIST", "TYPE", "normal").text().lines()).hasSize(2);
        assertThat(client.call("CLIENT", "LIST", "TYPE", "pubsub").text()).isEmpty();
    }

    @Test
    void longArgumentsAndLongCommandsAreCut() throws IOException {
        client.command("SET", "k", "x".repeat(100_000));
        assertShown("0 \"SET\" \"k\" \"" + "x".repeat(16 << 10) + "... (" + (100_000 - (16 << 10)) + " more bytes)\"");
        String[] many = new String[40_001];
        java.util.Arrays.fill(many, "x");
        many[0] = "MSET";
        client.command(many);
        String line = line(monitor);
        assertThat(line).startsWith("0 \"MSET\" \"x\" \"x\" ")
                .matches("(?s).* \"\\.\\.\\. \\(\\d{5} more arguments\\)\"");
        assertThat(line.length()).isBetween(64 << 10, 65 << 10);
    }

    /** Each client's commands in their order, whatever event loop has executed them. */
    @Test
    void allEventLoopsPublishToAllMonitors() throws IOException {
        int clients = 8;
        int commands = 300;
        List<RawClient> senders = new ArrayList<>();
        try (RawClient second = new RawClient(server.port())) {
            second.command("MONITOR");
            for (int i = 0; i < clients; i++) {
                senders.add(new RawClient(server.port()));
            }
            for (int n = 0; n < commands; n++) {
                for (int i = 0; i < clients; i++) {
                    senders.get(i).queue("ECHO", i + ":" + n);
                    senders.get(i).flush();
                }
            }
            for (RawClient sender : senders) {
                for (int n = 0; n < commands; n++) {
                    sender.read();
                }
            }
            for (RawClient each : List.of(monitor, second)) {
                Map<String, Integer> next = new HashMap<>();
                for (int i = 0; i < clients * commands; i++) {
                    String[] said = line(each).replaceAll("0 \"ECHO\" |\"", "").split(":");
                    assertThat(Integer.parseInt(said[1])).isEqualTo(next.merge(said[0], 1, Integer::sum) - 1);
                }
                assertThat(next).hasSize(clients);
            }
        } finally {
            for (RawClient sender : senders) {
                sender.close();
            }
        }
    }

    @Test
    void onlySlowMonitorsAreDisconnected() throws IOException {
        try (RawClient slow = new RawClient(server.port(), 4096)) {
            slow.command("MONITOR");
            String value = "x".repeat(10_000);
            int sent = 0;
            while (client.command("CLIENT", "LIST").lines().filter(line -> line.contains(" flags=O ")).count() > 1) {
                for (int i = 0; i < 10; i++) {
                    client.command("ECHO", value);
                    assertShown("0 \"ECHO\" \"" + value + "\"");
                }
                sent += 10;
                assertThat(sent).as("commands until it was cut off").isLessThan(20_000);
            }
            assertThatThrownBy(() -> {
                while (true) {
                    slow.read();
                }
            }).isInstanceOf(IOException.class);
        }
        client.command("PING");
        assertShown("0 \"PING\"");
        await().atMost(20, SECONDS).untilAsserted(
                () -> assertThat(client.info("undelivered_message_bytes")).isEqualTo("0"));
        assertThat(client.info("used_memory")).isNotEmpty();
    }
}
