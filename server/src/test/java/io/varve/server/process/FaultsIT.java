package io.varve.server.process;

import java.io.IOException;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.regex.Pattern;

import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ReferenceRedis;
import io.varve.server.testing.ServerExtension;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/**
 * Tests that fragmented, truncated, malformed or random input harms at most its own connection. Confined to the test's
 * thread.
 */
class FaultsIT {
    private static final long RANDOM_NANOS = Duration.ofSeconds(TestBudget.of("varve.faults.seconds", 5, 300))
            .toNanos();
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    /** Bytes that Netty's pools may keep of those that a test made them take. */
    private static final long POOLED_BYTES = 48L << 20;

    @RegisterExtension
    final ServerExtension server = ServerExtension.with("io-threads 2", "maxmemory 256mb");
    private RawClient admin;

    @BeforeEach
    void start() throws IOException {
        admin = server.connect();
    }

    // --- split

    private static byte[] pipeline() {
        String inline = "SET inline \"a \\x41\\n\"\r\nGET inline\r\n\r\n  echo 'single \\' quote'  \nPING\r\n";
        byte[] bulks = concat(RawClient.encode("SET", "k", "value\r\n$3\r\n"), RawClient.encode("GET", "k"),
                RawClient.encode("HSET", "h", "f", "1", "g", ""), RawClient.encode("HGETALL", "h"), "*0\r\n".getBytes(
                        StandardCharsets.US_ASCII),
                RawClient.encode("NOSUCH", "x"), RawClient.encode("MGET", "k", "none", "inline"),
                RawClient.encode("INCR", "k"), RawClient.encode("DEL", "k", "h", "inline"));
        return concat(bulks, inline.getBytes(StandardCharsets.US_ASCII), RawClient.encode("DEL", "inline", "k"),
                RawClient.encode("ECHO", "the end"));
    }

    private static byte[] concat(byte[]... parts) {
        byte[] all = new byte[Arrays.stream(parts).mapToInt(part -> part.length).sum()];
        int at = 0;
        for (byte[] part : parts) {
            System.arraycopy(part, 0, all, at, part.length);
            at += part.length;
        }
        return all;
    }

    @Test
    void aPipelineSplitAtAnyByteGetsTheSameReplies() throws IOException {
        byte[] requests = pipeline();
        String expected;
        try (RawClient client = new RawClient(server.port())) {
            expected = client.send(concat(requests, RawClient.encode("QUIT"))).readToEnd();
            expected = expected.substring(0, expected.length() - "+OK\r\n".length());
        }
        assertThat(expected).endsWith("$7\r\nthe end\r\n").contains("$5\r\na A\n\r\n".substring(4))
                .contains("-ERR unknown command 'NOSUCH'");
        try (RawClient client = new RawClient(server.port())) {
            for (int cut = 1; cut < requests.length; cut++) {
                sendAndAwaitReceipt(client, Arrays.copyOf(requests, cut));
                client.send(Arrays.copyOfRange(requests, cut, requests.length));
                assertThat(client.read(expected.length())).as("split at %d", cut).isEqualTo(expected);
            }
            for (byte b : requests) {
                client.send(new byte[] {b});
            }
            assertThat(client.read(expected.length())).as("byte by byte").isEqualTo(expected);
        }
    }

    /** The server has read these bytes when it returns: they cannot arrive together with the next ones. */
    private void sendAndAwaitReceipt(RawClient client, byte[] bytes) throws IOException {
        int question = RawClient.encode("INFO", "everything").length;
        long target = admin.infoLong("total_net_input_bytes") + bytes.length;
        client.send(bytes);
        do {
            target += question;
        } while (admin.infoLong("total_net_input_bytes") < target);
    }

    @Test
    void aLargeValueInPiecesOfAnySizeArrivesWhole() throws IOException {
        SplittableRandom random = new SplittableRandom(7);
        byte[] value = new byte[300_000];
        random.nextBytes(value);
        byte[] set = concat("*3\r\n$3\r\nSET\r\n$1\r\nv\r\n$300000\r\n".getBytes(StandardCharsets.US_ASCII), value,
                "\r\n".getBytes(StandardCharsets.US_ASCII), RawClient.encode("STRLEN", "v"));
        try (RawClient client = new RawClient(server.port())) {
            for (int round = 0; round < 20; round++) {
                for (int at = 0; at < set.length;) {
                    int next = Math.min(set.length, at + 1 + random.nextInt(1 << random.nextInt(1, 18)));
                    client.send(Arrays.copyOfRange(set, at, next));
                    at = next;
                }
                assertThat(client.read(5 + 9)).isEqualTo("+OK\r\n:300000\r\n");
                assertThat(client.call("GET", "v").text()).isEqualTo(new String(value, StandardCharsets.ISO_8859_1));
            }
        }
    }

    // --- cut off

    @Test
    void aHalfCommandAndAClosedSocketReleaseAllMemory() throws IOException {
        long usedBefore = admin.infoLong("used_memory");
        byte[] small = RawClient.encode("ECHO", "x".repeat(3_000));
        byte[] large = RawClient.encode("SET", "large", "x".repeat(40 << 20));
        for (int round = 0; round < 100; round++) {
            try (RawClient client = new RawClient(server.port())) {
                client.send(Arrays.copyOf(small, 1 + round * 29));
            }
        }
        for (int round = 0; round < 10; round++) {
            try (RawClient client = new RawClient(server.port())) {
                client.send(Arrays.copyOf(large, 30 + round * (4 << 20)));
            }
        }
        await().atMost(PATIENCE).untilAsserted(() -> {
            assertThat(admin.info("connected_clients")).isEqualTo("1");
            assertThat(admin.infoLong("used_memory")).isLessThan(usedBefore + (1 << 20));
        });
        assertThat(server.server().pooledBytes()).isLessThan(POOLED_BYTES);
        assertThat(admin.command("GET", "large")).isEqualTo("$-1\r\n");
    }

    // --- malformed

    private static final List<String> MALFORMED = List.of("*a\r\n", "*\r\n", "*-1\r\n", "*-2147483649\r\n",
            "*2147483648\r\n", "*99999999999999999999\r\n", "*1.5\r\n", "* 1\r\n", "*+1\r\n", "*01\r\n$4\r\nPING\r\n",
            "*0\r\n", "*1\r\n+PING\r\n", "*1\r\nPING\r\n", "*1\r\n$-1\r\n", "*1\r\n$-5\r\n", "*1\r\n$\r\n",
            "*1\r\n$x\r\n",
            "*1\r\n$4x\r\nPING\r\n", "*1\r\n$04\r\nPING\r\n", "*1\r\n$536870913\r\n", "*1\r\n$2147483648\r\n",
            "*1\r\n$99999999999999999999\r\n", "*2\r\n$4\r\nECHO\r\n*1\r\n", "*1\r\n$4\r\nPINGxx", "$4\r\nPING\r\n",
            "+OK\r\n", ":1\r\n", "echo \"a\r\n", "echo 'a\r\n", "echo \"a\"b\r\n", "echo 'a'b\r\n", "echo \"\\\r\n",
            "echo \"a\\x4\"\r\n", "\r\n", "\n", "   \r\n", "\t\r\n", "\"\"\r\n", "\r\r\n", "\1\2\r\n",
            "*1\r\n$0\r\n\r\n",
            "*2\r\n$0\r\n\r\n$0\r\n\r\n", "*1\n$4\r\nPING\r\n", "*1\rx$4\r\nPING\r\n");

    /** Without an end: they continue until they are too long. */
    private static final List<String> ENDLESS = List.of("*", "x", "*1\r\n$", "echo \"");

    @Test
    void malformedInputIsAnsweredAsRedisAnswersIt() throws Exception {
        List<String> differences = new ArrayList<>();
        try (ReferenceRedis redis = ReferenceRedis.start()) {
            for (String input : MALFORMED) {
                compare(input + "ECHO next\r\nQUIT\r\n", redis, differences);
            }
            for (String input : ENDLESS) {
                compare(input + "1".repeat((64 << 10) + 1), redis, differences);
            }
        }
        assertThat(differences).isEmpty();
        assertThat(admin.command("PING")).isEqualTo("+PONG\r\n");
    }

    private void compare(String input, ReferenceRedis redis, List<String> differences) throws IOException {
        String ours = answer(server.port(), input);
        String theirs = answer(redis.port(), input);
        if (!ours.equals(theirs)) {
            differences.add(RawReply.quote(input) + ": " + RawReply.quote(ours) + " instead of "
                    + RawReply.quote(theirs));
        }
    }

    /** The output until the server closes: an error, or the replies to the following requests. */
    private static String answer(int port, String input) throws IOException {
        try (RawClient client = new RawClient(port)) {
            return client.send(input).readToEnd();
        }
    }

    @Test
    void aRequestOfTooManyArgumentsIsRefused() throws IOException {
        try (RawClient client = new RawClient(server.port())) {
            assertThat(client.send("*2147483648\r\n").readToEnd())
                    .isEqualTo("-ERR Protocol error: invalid multibulk length\r\n");
        }
    }

    @Test
    void anMsetOfMoreThanAMillionArgumentsWorks() throws IOException {
        int keys = 600_000;
        StringBuilder request = new StringBuilder("*" + (1 + 2 * keys) + "\r\n$4\r\nMSET\r\n");
        for (int i = 0; i < keys; i++) {
            request.append("$6\r\n").append(100_000 + i).append("\r\n$1\r\nv\r\n");
        }
        try (RawClient client = new RawClient(server.port())) {
            assertThat(client.send(request.toString()).reply()).isEqualTo("+OK\r\n");
            assertThat(client.command("DBSIZE")).isEqualTo(":" + keys + "\r\n");
            assertThat(client.command("GET", "699999")).isEqualTo("$1\r\nv\r\n");
        }
    }

    @Test
    void announcedBytesThatNeverArriveCostNoMemory() throws IOException {
        List<RawClient> clients = new ArrayList<>();
        try {
            for (int i = 0; i < 100; i++) {
                RawClient client = new RawClient(server.port());
                clients.add(client);
                client.send("PING\r\n*2147483647\r\n");
                assertThat(client.reply()).isEqualTo("+PONG\r\n");
            }
            assertThat(admin.command("PING")).isEqualTo("+PONG\r\n");
            String list = admin.command("CLIENT", "LIST");
            assertThat(Pattern.compile("qbuf-free=(\\d+)").matcher(list).results()
                    .mapToLong(found -> Long.parseLong(found.group(1))).max().orElseThrow()).isLessThan(128 << 10);
        } finally {
            for (RawClient client : clients) {
                client.close();
            }
        }
    }

    @Test
    void theQueryBufferLimitHoldsForManyArguments() throws IOException {
        assertThat(admin.command("CONFIG", "SET", "client-query-buffer-limit", "1mb")).isEqualTo("+OK\r\n");
        try (RawClient client = new RawClient(server.port())) {
            client.send("PING\r\n*2147483647\r\n" + "$0\r\n\r\n".repeat(100_000));
            assertThat(client.reply()).isEqualTo("+PONG\r\n");
            assertThatThrownBy(() -> {
                client.send("$0\r\n\r\n".repeat(200_000));
                assertThat(client.readToEnd()).isEmpty();
                throw new SocketException("closed in order");
            }).isInstanceOf(SocketException.class);
        }
        assertThat(admin.command("PING")).isEqualTo("+PONG\r\n");
    }

    @Test
    void anOversizedRequestClosesOnlyItsConnection() throws IOException {
        assertThat(admin.command("CONFIG", "SET", "proto-max-bulk-len", "1mb")).isEqualTo("+OK\r\n");
        try (RawClient client = new RawClient(server.port())) {
            assertThat(client.send("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1048577\r\n").readToEnd())
                    .isEqualTo("-ERR Protocol error: invalid bulk length\r\n");
        }
        try (RawClient client = new RawClient(server.port())) {
            assertThat(client.command("SET", "k", "x".repeat(1 << 20))).isEqualTo("+OK\r\n");
            assertThat(client.send("*1048576\r\n").send("$1\r\na\r\n".repeat(1 << 20)).reply())
                    .startsWith("-ERR unknown command 'a', with args beginning with: 'a' 'a' ");
        }
        assertThat(admin.command("STRLEN", "k")).isEqualTo(":1048576\r\n");
    }

    // --- random

    @Test
    void randomBytesAndMutatedRequestsAreHarmless() throws IOException {
        long seed = TestBudget.seed("varve.test.seed");
        SplittableRandom random = new SplittableRandom(seed);
        List<byte[]> valid = validRequests();
        long end = System.nanoTime() + RANDOM_NANOS;
        long connections = 0;
        while (System.nanoTime() < end) {
            try (RawClient client = new RawClient(server.port())) {
                for (int i = random.nextInt(1, 50); i > 0; i--) {
                    client.send(random.nextInt(8) == 0 ? randomBytes(random) : mutate(random, valid));
                }
                client.endOutput();
                client.readToEnd();
            } catch (SocketException _) {
                // The server has closed the connection while something was still to be sent: that is its right.
                connections++;
            }
            connections++;
            if (connections % 100 == 0) {
                assertThat(admin.command("PING")).as("seed %d", seed).isEqualTo("+PONG\r\n");
            }
        }
        assertThat(connections).isPositive();
        await().atMost(PATIENCE).untilAsserted(
                () -> assertThat(admin.info("connected_clients")).as("seed %d", seed).isEqualTo("1"));
        assertThat(server.server().pooledBytes()).as("seed %d", seed).isLessThan(POOLED_BYTES);
        assertThat(admin.command("FLUSHALL")).isEqualTo("+OK\r\n");
        assertThat(admin.command("PING")).isEqualTo("+PONG\r\n");
    }

    private static List<byte[]> validRequests() {
        List<byte[]> valid = new ArrayList<>();
        for (String line : List.of("SET k v", "SET k v EX 100", "GET k", "MSET a 1 b 2 c 3", "MGET a b c", "INCR n",
                "APPEND k xyz", "SETRANGE k 100 abc", "GETRANGE k 0 -1", "SETBIT b 1000 1", "BITCOUNT b", "BITPOS b 1",
                "BITFIELD b SET u8 0 255 GET u4 0", "HSET h f v g w", "HGETALL h", "HINCRBY h n 5", "HSCAN h 0 MATCH *",
                "HRANDFIELD h -5 WITHVALUES", "HDEL h f", "SCAN 0 MATCH * COUNT 10 TYPE string", "KEYS *", "DEL k a b",
                "EXPIRE k 100 NX", "PEXPIREAT k 99999999999999", "TTL k", "PERSIST k", "RENAME k l", "COPY l k REPLACE",
                "TYPE k", "OBJECT ENCODING k", "MEMORY USAGE k", "LCS a b", "GETEX k PX 1000", "GETDEL k",
                "INFO memory",
                "CONFIG GET *", "CLIENT LIST", "CLIENT SETNAME n", "COMMAND COUNT", "COMMAND INFO get", "HELLO 3",
                "HELLO 2", "SELECT 1", "SELECT 0", "SWAPDB 0 1", "MOVE k 1", "DBSIZE", "RANDOMKEY", "FLUSHDB", "TIME",
                "SLOWLOG GET", "LATENCY LATEST", "CLIENT REPLY SKIP", "ECHO abc", "PING", "RESET", "STRLEN k")) {
            valid.add(RawClient.encode(line.split(" ")));
            valid.add((line + "\r\n").getBytes(StandardCharsets.US_ASCII));
        }
        return valid;
    }

    private static byte[] randomBytes(SplittableRandom random) {
        byte[] bytes = new byte[random.nextInt(1, 200)];
        random.nextBytes(bytes);
        if (random.nextBoolean()) {
            bytes[0] = '*';
        }
        return bytes;
    }

    private static byte[] mutate(SplittableRandom random, List<byte[]> valid) {
        byte[] request = valid.get(random.nextInt(valid.size())).clone();
        int at = random.nextInt(request.length);
        return switch (random.nextInt(8)) {
            case 0 -> {
                request[at] = (byte) random.nextInt(256);
                yield request;
            }
            case 1 -> Arrays.copyOf(request, at + 1);
            case 2 -> concat(Arrays.copyOf(request, at), Arrays.copyOfRange(request, random.nextInt(request.length),
                    request.length));
            case 3 -> {
                // Digits are counts, lengths and numbers: the most telling bytes.
                byte digit = (byte) "0123456789-".charAt(random.nextInt(11));
                for (int i = at; i < request.length; i++) {
                    if (request[i] >= '0' && request[i] <= '9') {
                        request[i] = digit;
                        break;
                    }
                }
                yield request;
            }
            default -> request;
        };
    }
}
