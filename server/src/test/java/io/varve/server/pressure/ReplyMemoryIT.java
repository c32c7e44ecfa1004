package io.varve.server.pressure;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.varve.server.testing.RawClient;
import io.varve.server.testing.ServerProcess;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests replies and incomplete requests beyond the JVM's buffer memory, in a process with the launcher's limits.
 * Confined to the test's thread.
 */
class ReplyMemoryIT {
    private static final long MB = 1 << 20;
    private static final long BESIDE_BYTES = 256 * MB;
    private static final int SMALL_RECEIVE_BUFFER_BYTES = 32 << 10;
    private static final int PIPELINE = 50;

    private static void fill(RawClient client, int count, int valueBytes) throws IOException {
        byte[] value = "v".repeat(valueBytes).getBytes(StandardCharsets.US_ASCII);
        for (int i = 0; i < count; i += PIPELINE) {
            for (int j = i; j < i + PIPELINE; j++) {
                client.write(List.of(bytes("SET"), bytes("key:with:a:long:name:" + j), value, bytes("EX"),
                        bytes("3600")));
            }
            client.flush();
            for (int j = 0; j < PIPELINE; j++) {
                assertThat(client.reply()).isEqualTo("+OK\r\n");
            }
        }
    }

    private static List<String> policies() {
        return TestBudget.cases(List.of("noeviction"), List.of("volatile-lru"));
    }

    /** Checks bulks of one byte each, which is {@code a} or {@code b}. */
    private static void assertFields(byte[] bulks) {
        byte[] expected = bytes("$1\r\na\r\n".repeat(bulks.length / 7));
        for (int i = 4; i < bulks.length; i += 7) {
            if (bulks[i] == 'b') {
                bulks[i] = 'a';
            }
        }
        assertThat(Arrays.equals(bulks, expected)).isTrue();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static byte[] mget(int count, int keys) {
        String[] words = new String[count + 1];
        words[0] = "MGET";
        for (int i = 0; i < count; i++) {
            words[i + 1] = "key:with:a:long:name:" + i % keys;
        }
        return RawClient.encode(words);
    }

    private static void assertSound(ServerProcess server, RawClient admin, long maxMemoryBytes) throws IOException {
        assertThat(admin.command("PING")).isEqualTo("+PONG\r\n");
        assertThat(server.errors()).doesNotContain("ERROR", "\tat ", "OutOfDirectMemoryError");
        assertThat(server.memoryBytes("VmHWM")).isLessThan(maxMemoryBytes + BESIDE_BYTES);
    }

    @Test
    void aReplyOfManyPiecesMayBeLongerThanDirectMemory() throws IOException {
        try (ServerProcess server = ServerProcess.start("--maxmemory", "300mb");
                RawClient client = new RawClient(server.port())) {
            fill(client, 1000, 60_000);
            byte[] element = bytes("$60000\r\n" + "v".repeat(60_000) + "\r\n");
            client.send(mget(3000, 1000));
            assertThat(client.read(7)).isEqualTo("*3000\r\n");
            for (int i = 0; i < 3000; i++) {
                assertThat(Arrays.equals(client.readBytes(element.length), element)).as("element %s", i).isTrue();
            }
            client.call("HSET", "hash", "a", "1", "b", "2");
            client.send("HRANDFIELD hash -20000000\r\n");
            assertThat(client.read(11)).isEqualTo("*20000000\r\n");
            for (int i = 0; i < 20_000_000; i += 100_000) {
                assertFields(client.readBytes(700_000));
            }
            assertSound(server, client, 300 * MB);
        }
    }

    /**
     * Under the locks of the keys nothing can be evicted: the command is rolled back, memory is reclaimed, and it
     * re-runs.
     */
    @ParameterizedTest
    @MethodSource("policies")
    void whenMaxmemoryIsFullALongReplyEvictsOrIsRefused(String policy) throws IOException {
        try (ServerProcess server = ServerProcess.start("--maxmemory", "200mb");
                RawClient client = new RawClient(server.port())) {
            client.call("HSET", "hash", "a", "1", "b", "2");
            // Every key may be evicted except the requested hash.
            assertThat(client.command("CONFIG", "SET", "maxmemory-policy", "volatile-lru")).isEqualTo("+OK\r\n");
            fill(client, 4000, 60_000);
            assertThat(client.infoLong("evicted_keys")).isPositive();
            client.call("HSET", "hash", "a", "1", "b", "2");
            assertThat(client.command("CONFIG", "SET", "maxmemory-policy", policy)).isEqualTo("+OK\r\n");
            long evicted = client.infoLong("evicted_keys");
            client.send("HRANDFIELD hash -16000000\r\n");
            if (policy.equals("noeviction")) {
                assertThat(client.reply()).isEqualTo("-OOM command not allowed when used memory > 'maxmemory'.\r\n");
                assertThat(client.infoLong("evicted_keys")).isEqualTo(evicted);
            } else {
                assertThat(client.read(11)).isEqualTo("*16000000\r\n");
                for (int i = 0; i < 16_000_000; i += 100_000) {
                    client.readBytes(700_000);
                }
                assertThat(client.infoLong("evicted_keys")).isGreaterThan(evicted);
            }
            // No memory is enough for this one, so nothing is evicted in vain beyond the most a reply may have.
            assertThat(client.command("HRANDFIELD", "hash", "-1000000000")).startsWith("-OOM ");
            assertThat(client.command("HLEN", "hash")).startsWith(":");
            assertSound(server, client, 200 * MB);
        }
    }

    @Test
    void aClientThatDoesNotReadIsKeptOneReplyAtMost() throws Exception {
        try (ServerProcess server = ServerProcess.start("--maxmemory", "300mb");
                RawClient admin = new RawClient(server.port());
                RawClient slow = new RawClient(server.port(), SMALL_RECEIVE_BUFFER_BYTES)) {
            fill(admin, 1000, 60_000);
            byte[] one = mget(2000, 1000);
            slow.send(one).send(one);
            assertThat(slow.read(7)).isEqualTo("*2000\r\n");
            Matcher waits = Pattern.compile("omem=(\\d+)").matcher(admin.call("CLIENT", "LIST").text());
            long max = 0;
            while (waits.find()) {
                max = Math.max(max, Long.parseLong(waits.group(1)));
            }
            assertThat(max).isBetween(100_000_000L, 2000 * 60_010L + (1 << 20));
            slow.readBytes(2000 * 60_010);
            assertThat(slow.read(7)).isEqualTo("*2000\r\n");
            slow.readBytes(2000 * 60_010);
            assertSound(server, admin, 300 * MB);
        }
    }

    @Test
    void aReplyOfManyLargeValuesIsWithinTheHeap() throws IOException {
        try (ServerProcess server = ServerProcess.start("--maxmemory", "300mb");
                RawClient client = new RawClient(server.port())) {
            fill(client, PIPELINE, 70_000);
            client.send(mget(400_000, 1));
            assertThat(client.reply())
                    .startsWith("-OOM the heap budget for arguments and keys of requests is used up");
            client.send(mget(10_000, 1));
            assertThat(client.read(8)).isEqualTo("*10000\r\n");
            for (int i = 0; i < 10_000; i++) {
                client.readBytes(70_010);
            }
            assertSound(server, client, 300 * MB);
        }
    }

    @Test
    void unfinishedRequestsOfManyClientsAreChargedToMaxmemory() throws IOException {
        String request = unfinished();
        try (ServerProcess server = ServerProcess.start("--maxmemory", "150mb");
                RawClient good = new RawClient(server.port())) {
            List<RawClient> waiting = new ArrayList<>();
            for (int i = 0; i < 1500; i++) {
                RawClient client = new RawClient(server.port());
                client.send(request);
                waiting.add(client);
                if (i % 100 == 0) {
                    assertThat(good.command("SET", "a", "b")).isEqualTo("+OK\r\n");
                    assertThat(good.command("GET", "a")).isEqualTo("$1\r\nb\r\n");
                }
            }
            await().untilAsserted(() -> assertThat(good.infoLong("connected_clients")).isEqualTo(1501));
            for (RawClient client : waiting) {
                client.send("x\r\n");
                assertThat(client.reply()).isEqualTo(":0\r\n");
                client.close();
            }
            assertSound(server, good, 150 * MB);
        }
    }

    /**
     * If maxmemory cannot hold the requests, their connections are closed, with one log line a second, and no others.
     */
    @Test
    void unfinishedRequestsBeyondMaxmemoryLoseTheirConnection() throws IOException {
        String request = unfinished();
        try (ServerProcess server = ServerProcess.start("--maxmemory", "32mb");
                RawClient good = new RawClient(server.port())) {
            List<RawClient> waiting = new ArrayList<>();
            for (int i = 0; i < 1500; i++) {
                RawClient client = new RawClient(server.port());
                waiting.add(client);
                sendWhileOpen(client, request);
                if (i % 100 == 0) {
                    assertThat(good.command("GET", "a")).isEqualTo("$-1\r\n");
                }
            }
            await().untilAsserted(
                    () -> assertThat(server.errors()).contains("is closed: maxmemory has no space for a buffer"));
            assertThat(good.infoLong("connected_clients")).isBetween(500L, 1500L);
            assertThat(server.errors().lines().filter(line -> line.contains("is closed")).count()).isLessThan(20);
            for (RawClient client : waiting) {
                client.close();
            }
            assertThat(good.command("SET", "a", "b")).isEqualTo("+OK\r\n");
            assertSound(server, good, 32 * MB);
        }
    }

    /** Some 60 kB of short bulks, which do not go into runs: all but the last byte. */
    private static String unfinished() {
        String key = "x".repeat(3000);
        return "*21\r\n$3\r\nDEL\r\n" + ("$3000\r\n" + key + "\r\n").repeat(19) + "$3000\r\n" + key.substring(1);
    }

    private static void sendWhileOpen(RawClient client, String request) {
        try {
            client.send(request);
        } catch (IOException closed) {
            assertThat(closed).hasMessageMatching(".*(reset|Broken pipe).*");
        }
    }

    /** The replies need more memory than there is. If commands but read, they have not run; else all of them have. */
    @Test
    void aTransactionWithoutABufferForItsRepliesEnds() throws IOException {
        try (ServerProcess server = ServerProcess.start("--maxmemory", "64mb");
                RawClient client = new RawClient(server.port());
                RawClient other = new RawClient(server.port())) {
            assertThat(client.command("SET", "k", "x".repeat(3000))).isEqualTo("+OK\r\n");
            assertThat(client.command("WATCH", "k")).isEqualTo("+OK\r\n");
            assertThat(client.command("MULTI")).isEqualTo("+OK\r\n");
            queueReads(client);
            assertThat(client.command("EXEC")).startsWith("-EXECABORT Transaction discarded because of: OOM");
            assertThat(client.command("SET", "j", "v")).isEqualTo("+OK\r\n");

            assertThat(client.command("MULTI")).isEqualTo("+OK\r\n");
            assertThat(client.command("INCR", "a")).isEqualTo("+QUEUED\r\n");
            queueReads(client);
            assertThat(client.command("INCR", "b")).isEqualTo("+QUEUED\r\n");
            client.queue("EXEC");
            client.flush();
            assertThat(client.readToEnd()).isEmpty();
            assertThat(other.command("MGET", "a", "b")).isEqualTo("*2\r\n$1\r\n1\r\n$1\r\n1\r\n");
        }
    }

    /** It re-runs after memory was reclaimed for its replies. */
    @Test
    void aTransactionThatIsRunAgainIsShownToMonitorsOnce() throws IOException {
        try (ServerProcess server = ServerProcess.start("--maxmemory", "200mb", "--maxmemory-policy", "volatile-lru");
                RawClient client = new RawClient(server.port());
                RawClient monitor = new RawClient(server.port())) {
            assertThat(client.command("SET", "k", "x".repeat(3000))).isEqualTo("+OK\r\n");
            fill(client, 4000, 60_000);
            long evicted = client.infoLong("evicted_keys");
            assertThat(monitor.command("MONITOR")).isEqualTo("+OK\r\n");
            assertThat(client.command("MULTI")).isEqualTo("+OK\r\n");
            queueReads(client, 25);
            assertThat(client.call("EXEC").elements()).hasSize(25);
            List<String> shown = new ArrayList<>();
            while (shown.isEmpty() || !shown.getLast().equals("\"EXEC\"")) {
                shown.add(monitor.read().text().replaceFirst(".*] (\"[A-Z]+\").*", "$1"));
            }
            assertThat(shown).hasSize(27).startsWith("\"MULTI\"").containsOnly("\"MULTI\"", "\"MGET\"", "\"EXEC\"");
            assertThat(client.infoLong("evicted_keys")).as("memory had to be reclaimed").isGreaterThan(evicted);
        }
    }

    /** Commands whose replies are 180 MB, with a server of 64. */
    private static void queueReads(RawClient of) throws IOException {
        queueReads(of, 60);
    }

    /** Commands whose replies are 3 MB each: values so short that replies copy them. */
    private static void queueReads(RawClient of, int count) throws IOException {
        String[] thousand = new String[1001];
        Arrays.fill(thousand, "k");
        thousand[0] = "MGET";
        for (int i = 0; i < count; i++) {
            assertThat(of.command(thousand)).isEqualTo("+QUEUED\r\n");
        }
    }
}
