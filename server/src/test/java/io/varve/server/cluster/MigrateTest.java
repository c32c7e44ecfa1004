package io.varve.server.cluster;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import io.varve.server.testing.RawClient;
import io.varve.server.testing.ReferenceRedis;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests MIGRATE between a server outside any cluster and a real Redis, and with a target that answers when the test
 * wants. Confined to the test's thread, except for that target.
 */
class MigrateTest {
    @RegisterExtension
    static final ServerExtension server = ServerExtension.with("maxmemory 64mb");

    /** Accepts one connection for each of its scripts. Confined to one thread. */
    private static final class Target implements AutoCloseable {
        private final ServerSocket listening;

        Target() throws IOException {
            listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        }

        String port() {
            return Integer.toString(listening.getLocalPort());
        }

        /** Reads a request, runs the action, and answers. @return the words of the request */
        List<String> serve(Runnable meanwhile, String answer) throws IOException {
            try (Socket client = listening.accept();
                    BufferedReader in = new BufferedReader(
                            new InputStreamReader(client.getInputStream(), StandardCharsets.ISO_8859_1))) {
                int count = Integer.parseInt(in.readLine().substring(1));
                List<String> words = new ArrayList<>();
                for (int i = 0; i < count; i++) {
                    char[] word = new char[Integer.parseInt(in.readLine().substring(1)) + 2];
                    int read = 0;
                    while (read < word.length) {
                        read += in.read(word, read, word.length - read);
                    }
                    words.add(new String(word, 0, word.length - 2));
                }
                meanwhile.run();
                if (!answer.isEmpty()) {
                    client.getOutputStream().write((answer + "\r\n").getBytes(StandardCharsets.US_ASCII));
                    client.getOutputStream().flush();
                    // Until the other side has read it.
                    assertThat(in.read()).isEqualTo(-1);
                }
                return words;
            }
        }

        @Override
        public void close() throws IOException {
            listening.close();
        }
    }

    private static void call(String... command) {
        try (RawClient other = new RawClient(server.port())) {
            assertThat(other.call(command).isError()).isFalse();
        } catch (IOException failed) {
            throw new IllegalStateException(failed);
        }
    }

    private static String migrate(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of("MIGRATE", "127.0.0.1"));
        command.addAll(List.of(arguments));
        try (RawClient client = new RawClient(server.port())) {
            return client.call(command.toArray(String[]::new)).text();
        }
    }

    private static String get(String key) throws IOException {
        try (RawClient client = new RawClient(server.port())) {
            return client.call("GET", key).text();
        }
    }

    @Test
    void streamsMoveToRedisWithTheirGroups() throws Exception {
        call("XADD", "stream", "1-1", "f", "v");
        call("XADD", "stream", "2-1", "f", "w");
        call("XGROUP", "CREATE", "stream", "g", "0");
        call("XREADGROUP", "GROUP", "g", "c", "COUNT", "1", "STREAMS", "stream", ">");
        try (ReferenceRedis redis = ReferenceRedis.start(); RawClient there = new RawClient(redis.port())) {
            assertThat(migrate(Integer.toString(redis.port()), "stream", "0", "5000")).isEqualTo("OK");
            assertThat(there.command("XRANGE", "stream", "-", "+")).contains("1-1", "2-1");
            assertThat(there.command("XPENDING", "stream", "g")).startsWith("*4\r\n:1\r\n$3\r\n1-1\r\n");
            try (RawClient client = new RawClient(server.port())) {
                assertThat(client.call("EXISTS", "stream").integer()).isZero();
            }
        }
    }

    @Test
    void aKeyThatChangesMeanwhile_isSentAgain_andOneThatIsDeletedIsDeletedThere() throws Exception {
        call("SET", "changing", "1");
        try (Target target = new Target(); ExecutorService threads = Executors.newSingleThreadExecutor()) {
            Future<List<List<String>>> requests = threads.submit(() -> List.of(
                    target.serve(() -> call("SET", "changing", "2"), "+OK"),
                    target.serve(() -> call("EXPIRE", "changing", "1000"), "+OK"),
                    target.serve(() -> call("DEL", "changing"), "+OK"), target.serve(() -> {}, ":1")));
            assertThat(migrate(target.port(), "changing", "0", "5000")).isEqualTo("OK");
            List<List<String>> sent = requests.get();
            assertThat(sent.get(0)).startsWith("RESTORE", "changing", "0").hasSize(4);
            assertThat(sent.get(1)).startsWith("RESTORE", "changing", "0").endsWith("REPLACE");
            assertThat(Long.parseLong(sent.get(2).get(2))).isBetween(900_000L, 1_000_000L);
            assertThat(sent.get(3)).containsExactly("DEL", "changing");
        }
    }

    @Test
    void aCopyIsNotSentAgain() throws Exception {
        call("SET", "copied", "1");
        try (Target target = new Target(); ExecutorService threads = Executors.newSingleThreadExecutor()) {
            Future<List<String>> request = threads.submit(
                    () -> target.serve(() -> call("SET", "copied", "2"), "+OK"));
            assertThat(migrate(target.port(), "copied", "0", "5000", "COPY", "REPLACE")).isEqualTo("OK");
            assertThat(request.get()).endsWith("REPLACE");
            assertThat(get("copied")).isEqualTo("2");
        }
    }

    @Test
    void withoutAnAnswer_theKeyStays() throws Exception {
        call("SET", "kept", "1");
        try (Target target = new Target(); ExecutorService threads = Executors.newSingleThreadExecutor()) {
            Future<List<String>> request = threads.submit(() -> target.serve(() -> {}, ""));
            assertThat(migrate(target.port(), "kept", "0", "5000"))
                    .isEqualTo("IOERR error or timeout reading from target instance");
            request.get();
            request = threads.submit(() -> target.serve(() -> {}, "-BUSYKEY Target key name already exists."));
            assertThat(migrate(target.port(), "kept", "0", "5000")).isEqualTo(
                    "ERR Target instance replied with error: BUSYKEY Target key name already exists.");
            request.get();
            assertThat(get("kept")).isEqualTo("1");
        }
    }

    @Test
    void aTransactionCannotMigrate() throws IOException {
        try (RawClient client = new RawClient(server.port())) {
            client.call("SET", "k", "1");
            client.call("MULTI");
            assertThat(client.call("MIGRATE", "127.0.0.1", "1", "k", "0", "10").text()).isEqualTo("QUEUED");
            assertThat(client.call("EXEC").elements().getFirst().text())
                    .isEqualTo("ERR MIGRATE is not allowed in a transaction");
        }
    }

    @Test
    void keysMoveToRedisAndBack() throws Exception {
        try (ReferenceRedis redis = ReferenceRedis.start();
                RawClient there = new RawClient(redis.port());
                RawClient here = new RawClient(server.port())) {
            there.call("CONFIG", "SET", "requirepass", "secret");
            there.call("AUTH", "secret");
            here.call("FLUSHALL");
            here.call("SET", "text", "value");
            here.call("RPUSH", "list", "a", "b", "c");
            here.call("HSET", "hash", "f", "v");
            here.call("ZADD", "zset", "1", "a");
            here.call("SADD", "set", "a", "b");
            here.call("PEXPIRE", "text", "100000");
            String port = Integer.toString(redis.port());
            assertThat(here.call("MIGRATE", "127.0.0.1", port, "text", "0", "5000").text())
                    .isEqualTo("ERR Target instance replied with error: NOAUTH Authentication required.");
            assertThat(here.call("MIGRATE", "127.0.0.1", port, "", "2", "5000", "AUTH", "secret", "KEYS", "text",
                    "list", "none", "text", "hash", "zset", "set").text()).isEqualTo("OK");
            assertThat(here.call("DBSIZE").integer()).isZero();
            there.call("SELECT", "2");
            assertThat(there.call("DBSIZE").integer()).isEqualTo(5);
            assertThat(there.call("PTTL", "text").integer()).isBetween(90_000L, 100_000L);
            assertThat(there.call("MIGRATE", "127.0.0.1", Integer.toString(server.port()), "", "0", "5000", "KEYS",
                    "text", "list", "hash", "zset", "set").text()).isEqualTo("OK");
            assertThat(here.call("DBSIZE").integer()).isEqualTo(5);
            assertThat(here.call("LRANGE", "list", "0", "-1").toString()).isEqualTo("*[$\"a\", $\"b\", $\"c\"]");
            assertThat(there.call("DBSIZE").integer()).isZero();
        }
    }

    /** The change stream gets the deletion, not the transfer. */
    @Test
    void aMigratedKeyIsCountedAsAChange() throws Exception {
        try (ReferenceRedis redis = ReferenceRedis.start(); RawClient here = new RawClient(server.port())) {
            here.call("CONFIG", "SET", "notify-keyspace-events", "KEA");
            here.call("SET", "moved", "1");
            try (RawClient listener = new RawClient(server.port())) {
                listener.call("SUBSCRIBE", "__keyspace@0__:moved");
                assertThat(migrate(Integer.toString(redis.port()), "moved", "0", "5000")).isEqualTo("OK");
                assertThat(listener.read().elements().getLast().text()).isEqualTo("del");
            }
            here.call("CONFIG", "SET", "notify-keyspace-events", "");
        }
    }
}
