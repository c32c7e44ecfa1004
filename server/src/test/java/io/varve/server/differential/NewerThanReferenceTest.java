package io.varve.server.differential;

import java.io.IOException;
import java.util.List;
import java.util.Map;

import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the additions of Redis 7.2 and 7.4 to commands of 7.0. Confined to the test's thread. */
class NewerThanReferenceTest {
    @RegisterExtension
    final ServerExtension server = ServerExtension.with("maxmemory 64mb");
    private RawClient client;

    @BeforeEach
    void start() throws IOException {
        client = server.connect();
    }

    @Test
    void theVersionIsOneThatClientsWithCachesAccept() throws IOException {
        assertThat(client.call("HELLO", "3").elements().get(3).text()).isEqualTo("7.4.1");
        assertThat(client.call("INFO", "server").text()).contains("redis_version:7.4.1\r\n");
    }

    @Test
    void hscanNovaluesOmitsValues() throws IOException {
        client.call("HSET", "h", "f", "1", "g", "2");
        assertThat(client.call("HSCAN", "h", "0", "NOVALUES").toString()).isEqualTo("*[$\"0\", *[$\"f\", $\"g\"]]");
        assertThat(client.call("HSCAN", "h", "0", "novalues", "MATCH", "g", "COUNT", "100").toString())
                .isEqualTo("*[$\"0\", *[$\"g\"]]");
        assertThat(client.call("HSCAN", "h", "0", "COUNT", "1", "NOVALUES", "NOVALUES").elements().getLast().elements())
                .isNotEmpty().allMatch(field -> field.text().matches("[fg]"));
        assertThat(client.call("HSCAN", "missing", "0", "NOVALUES").toString()).isEqualTo("*[$\"0\", *\"0\"]");
        client.call("CONFIG", "SET", "packed-max-entries", "2");
        for (int i = 0; i < 500; i++) {
            client.call("HSET", "tree", "f" + i, "v");
        }
        List<RawReply> fields = client.call("HSCAN", "tree", "0", "COUNT", "1000", "NOVALUES").elements().getLast()
                .elements();
        assertThat(fields).hasSize(500).allMatch(field -> field.text().startsWith("f"));
    }

    @Test
    void onlyHscanAcceptsNovalues() throws IOException {
        client.call("SADD", "s", "m");
        client.call("ZADD", "z", "1", "m");
        for (String command : List.of("SSCAN s 0 NOVALUES", "ZSCAN z 0 NOVALUES", "SCAN 0 NOVALUES")) {
            assertThat(client.call(command.split(" ")).text()).as(command)
                    .isEqualTo("ERR NOVALUES option can only be used in HSCAN");
        }
        client.call("HSET", "h", "f", "1");
        assertThat(client.call("HSCAN", "h", "0", "NOVALUE").text()).isEqualTo("ERR syntax error");
        assertThat(client.call("HSCAN", "h", "0", "NOVALUES", "COUNT").text()).isEqualTo("ERR syntax error");
    }

    /** The ends of 64 bits, and what lies beyond, at the integers of commands that the reference does not have. */
    @Test
    void integersOfFieldTimesAreReadAsTheirErrorsSay() throws IOException {
        client.call("HSET", "h", "f", "1");
        String notAnInteger = "ERR value is not an integer or out of range";
        String negative = "ERR invalid expire time, must be >= 0";
        for (String command : List.of("HEXPIRE", "HPEXPIRE", "HEXPIREAT", "HPEXPIREAT")) {
            String tooLate = "ERR invalid expire time in '" + command.toLowerCase(java.util.Locale.ROOT) + "' command";
            for (Map.Entry<String, String> time : Map
                    .of("-9223372036854775808", negative, "-9223372036854775807", negative,
                            "-1", negative, "9223372036854775806", tooLate, "9223372036854775807", tooLate,
                            "9223372036854775808", notAnInteger, "-9223372036854775809", notAnInteger, "1.0",
                            notAnInteger)
                    .entrySet()) {
                assertThat(client.call(command, "h", time.getKey(), "FIELDS", "1", "f").text()).as(command)
                        .isEqualTo(time.getValue());
            }
            numberOfFields(List.of(command, "h", "100000"), "ERR Parameter `numFields` should be greater than 0");
        }
        for (String command : List.of("HTTL", "HPTTL", "HEXPIRETIME", "HPEXPIRETIME", "HPERSIST")) {
            numberOfFields(List.of(command, "h"), "ERR Number of fields must be a positive integer");
        }
        assertThat(client.call("HTTL", "h", "FIELDS", "1", "f").toString()).isEqualTo("*[:\"-1\"]");
    }

    private void numberOfFields(List<String> command, String notPositive) throws IOException {
        for (String number : List.of("-9223372036854775808", "-1", "0", "9223372036854775808", "x")) {
            assertThat(call(command, "FIELDS", number, "f").text()).as(command.toString()).isEqualTo(notPositive);
        }
        for (String number : List.of("2", "4294967297", "9223372036854775807")) {
            assertThat(call(command, "FIELDS", number, "f").text()).as(command.toString())
                    .isEqualTo("ERR The `numfields` parameter must match the number of arguments");
        }
    }

    private RawReply call(List<String> command, String... more) throws IOException {
        return client.call(java.util.stream.Stream.concat(command.stream(), java.util.Arrays.stream(more))
                .toArray(String[]::new));
    }

    @Test
    void rankHasScore() throws IOException {
        client.call("ZADD", "z", "1.5", "m", "2", "n");
        assertThat(client.call("ZRANK", "z", "n", "WITHSCORE").toString()).isEqualTo("*[:\"1\", $\"2\"]");
        assertThat(client.call("ZREVRANK", "z", "m", "withscore").toString()).isEqualTo("*[:\"1\", $\"1.5\"]");
        assertThat(client.call("ZRANK", "z", "n", "WITHSCORES").text()).isEqualTo("ERR syntax error");
    }

    /** An age that no client can have ends none, however large it is. */
    @Test
    void clientsAreKilledByAge() throws IOException {
        try (RawClient other = new RawClient(server.port())) {
            assertThat(other.call("PING").text()).isEqualTo("PONG");
            for (String age : List.of("9223372036854775807", "9223372036854775", "1000000000")) {
                assertThat(client.call("CLIENT", "KILL", "MAXAGE", age, "SKIPME", "no").integer()).as(age).isZero();
            }
            for (Map.Entry<String, String> refused : Map.of("0", "ERR maxage should be greater than 0", "-1",
                    "ERR maxage should be greater than 0", "x", "ERR maxage is not an integer or out of range")
                    .entrySet()) {
                assertThat(client.call("CLIENT", "KILL", "MAXAGE", refused.getKey()).text())
                        .isEqualTo(refused.getValue());
            }
            assertThat(other.call("PING").text()).isEqualTo("PONG");
        }
    }

    @Test
    void clientFlagsReportWatchesAndSubscriptions() throws IOException {
        try (RawClient watcher = new RawClient(server.port()); RawClient listener = new RawClient(server.port())) {
            watcher.call("WATCH", "a", "b", "a");
            listener.call("SUBSCRIBE", "c");
            assertThat(client.call("CLIENT", "LIST").text()).contains(" multi=-1 watch=2 qbuf=")
                    .contains(" multi=-1 watch=0 qbuf=");
            assertThat(client.call("INFO", "clients").text())
                    .contains("pubsub_clients:1\r\n", "watching_clients:1\r\n", "total_watched_keys:2\r\n");
            watcher.call("UNWATCH");
            assertThat(client.call("INFO", "clients").text())
                    .contains("watching_clients:0\r\n", "total_watched_keys:0\r\n");
        }
    }

    @Test
    void getkeysOfACommandWithoutArguments() throws IOException {
        assertThat(client.call("COMMAND", "GETKEYS", "PING").text()).isEqualTo("ERR The command has no key arguments");
        assertThat(client.call("COMMAND", "GETKEYS", "GET").text())
                .isEqualTo("ERR Invalid number of arguments specified for command");
        assertThat(client.call("COMMAND", "GETKEYS").text())
                .isEqualTo("ERR wrong number of arguments for 'command|getkeys' command");
    }

    /** The launcher states its own path; a server without it reports that of its Java. */
    @Test
    void theExecutableIsAPath() throws IOException {
        String expected = System.getProperty("varve.executable", System.getProperty("java.home") + "/bin/java");
        assertThat(client.call("INFO", "server").text()).contains("executable:" + expected + "\r\n");
    }
}
