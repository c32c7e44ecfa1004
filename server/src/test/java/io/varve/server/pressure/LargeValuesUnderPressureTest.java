package io.varve.server.pressure;

import java.io.IOException;
import java.util.List;

import io.varve.server.VarveServer;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that values of more than half of maxmemory move to other keys and grow in place, without memory for a copy.
 * Confined to the test's thread.
 */
@Timeout(120)
class LargeValuesUnderPressureTest {
    @RegisterExtension
    static final ServerExtension servers = ServerExtension.withoutServer();

    private static final int LENGTH = 9_000_000;
    private static final String VALUE = "0123456789".repeat(LENGTH / 10);
    private static final int KEYS = 24;

    private static VarveServer start() throws IOException {
        return servers.start("io-threads 1", "maxmemory 16mb");
    }

    private static void set(RawClient client, String key) throws IOException {
        assertThat(client.call("SET", key, VALUE).text()).isEqualTo("OK");
        assertThat(client.call("PEXPIREAT", key, "4102444800000").integer()).isOne();
    }

    private static void assertMoved(RawClient client, String from, String to) throws IOException {
        assertThat(client.call("EXISTS", from).integer()).isZero();
        assertThat(client.call("PEXPIRETIME", to).text()).isEqualTo("4102444800000");
        assertThat(client.call("GET", to).text()).isEqualTo(VALUE);
        assertThat(client.call("DBSIZE").integer()).isOne();
    }

    /** To keys of whatever shard, short names and long. */
    @Test
    void renameMovesAValueThatCannotBeCopied() throws IOException {
        try (VarveServer server = start(); RawClient client = new RawClient(server.port())) {
            String at = "k";
            set(client, at);
            for (int i = 0; i < KEYS; i++) {
                String to = "name" + "x".repeat(i * 4) + i;
                if (i % 2 == 0) {
                    assertThat(client.call("RENAME", at, to).text()).isEqualTo("OK");
                } else {
                    assertThat(client.call("RENAMENX", at, to).integer()).isOne();
                }
                assertMoved(client, at, to);
                at = to;
            }
            assertThat(client.call("DEL", at).integer()).isOne();
            assertThat(client.infoLong("used_memory")).isLessThan(4L << 20);
        }
    }

    @Test
    void renameReplacesWhatTheOtherKeyHas() throws IOException {
        try (VarveServer server = start(); RawClient client = new RawClient(server.port())) {
            for (int i = 0; i < KEYS; i++) {
                set(client, "k");
                assertThat(client.call("SET", "to" + i, "y".repeat(i % 2 == 0 ? 10 : 200_000)).text()).isEqualTo("OK");
                assertThat(client.call("RENAMENX", "k", "to" + i).integer()).isZero();
                assertThat(client.call("RENAME", "k", "to" + i).text()).isEqualTo("OK");
                assertMoved(client, "k", "to" + i);
                client.call("DEL", "to" + i);
            }
        }
    }

    @Test
    void moveTakesAValueThatCannotBeCopied() throws IOException {
        try (VarveServer server = start(); RawClient client = new RawClient(server.port())) {
            set(client, "k");
            assertThat(client.call("MOVE", "k", "3").integer()).isOne();
            assertThat(client.call("EXISTS", "k").integer()).isZero();
            client.call("SELECT", "3");
            assertThat(client.call("GET", "k").text()).isEqualTo(VALUE);
            assertThat(client.call("PEXPIRETIME", "k").text()).isEqualTo("4102444800000");
        }
    }

    /** The members are gathered in memory that grows beside the sets, which stay. */
    @Test
    void aUnionOfAFifthOfMaxmemoryIsStoredInAFullCache() throws IOException {
        try (VarveServer server = servers.start("io-threads 1", "shards 8", "maxmemory 16mb",
                "maxmemory-policy allkeys-lru");
                RawClient client = new RawClient(server.port())) {
            for (int i = 0; i < 20_000; i++) {
                client.call("SET", "filler" + i, VALUE.substring(0, 900));
            }
            for (int i = 0; i < 17; i++) {
                client.call("SADD", "o", i + VALUE.substring(0, 195_000));
            }
            client.call("SADD", "k", "x");
            for (String key : List.of("o", "k")) {
                assertThat(client.call("EXISTS", key).integer()).isOne();
            }
            assertThat(client.call("SUNIONSTORE", "d", "k", "o").text()).isEqualTo("18");
        }
    }

    @Test
    void aListOfOneLongElementIsRenamed() throws IOException {
        try (VarveServer server = start(); RawClient client = new RawClient(server.port())) {
            String element = VALUE.substring(0, 6_000_000);
            assertThat(client.call("RPUSH", "list", element).integer()).isOne();
            for (int i = 0; i < KEYS; i++) {
                String from = i == 0 ? "list" : "list" + (i - 1);
                assertThat(client.call("RENAME", from, "list" + i).text()).isEqualTo("OK");
                assertThat(client.call("EXISTS", from).integer()).isZero();
            }
            assertThat(client.call("LRANGE", "list" + (KEYS - 1), "0", "-1").elements().getFirst().text())
                    .isEqualTo(element);
        }
    }

    @Test
    void aValueGrowsWhereItLies() throws IOException {
        try (VarveServer server = start(); RawClient client = new RawClient(server.port())) {
            set(client, "k");
            StringBuilder expected = new StringBuilder(VALUE);
            for (int i = 0; i < 300; i++) {
                String piece = "p".repeat(i) + i;
                expected.append(piece);
                assertThat(client.call("APPEND", "k", piece).integer()).isEqualTo(expected.length());
            }
            expected.setLength(10_000_000);
            expected.append("end");
            assertThat(client.call("SETRANGE", "k", "10000000", "end").integer()).isEqualTo(10_000_003);
            assertThat(client.call("SETBIT", "k", Integer.toString(10_000_003 * 8 + 7), "1").integer()).isZero();
            expected.append('\1');
            assertThat(client.call("GET", "k").text()).isEqualTo(expected.toString());
            assertThat(client.call("PEXPIRETIME", "k").text()).isEqualTo("4102444800000");
            // If there is no memory to grow, the value stays unchanged.
            assertThat(client.call("SETRANGE", "k", "16800000", "x").text())
                    .isEqualTo("OOM command not allowed when used memory > 'maxmemory'.");
            assertThat(client.call("GET", "k").text()).isEqualTo(expected.toString());
            assertThat(client.call("DEL", "k").integer()).isOne();
            assertThat(client.infoLong("used_memory")).isLessThan(4L << 20);
            set(client, "other");
        }
    }

    /** A cache that is full of small keys, which may go. */
    private static VarveServer startFull(RawClientUse use) throws IOException {
        VarveServer server = servers.start("io-threads 1", "maxmemory 16mb", "maxmemory-policy allkeys-lru");
        try (RawClient client = new RawClient(server.port())) {
            use.with(client);
            return server;
        } catch (IOException | RuntimeException | AssertionError failed) {
            server.close();
            throw failed;
        }
    }

    @FunctionalInterface
    private interface RawClientUse {
        void with(RawClient client) throws IOException;
    }

    private static void fill(RawClient client, int keys) throws IOException {
        String filler = "f".repeat(900);
        for (int i = 0; i < keys; i++) {
            client.queue("SET", "filler" + i, filler);
        }
        client.flush();
        for (int i = 0; i < keys; i++) {
            assertThat(client.read().text()).isEqualTo("OK");
        }
    }

    @Test
    void aValueGrowsWhereItLiesInAFullCache() throws IOException {
        try (VarveServer server = startFull(client -> {
            client.call("SET", "k", VALUE);
            fill(client, 7000);
        }); RawClient client = new RawClient(server.port())) {
            client.call("TOUCH", "k");
            int length = LENGTH;
            for (int bytes : new int[] {1_000_000, 100_000, 100_000, 1, 1_500_000, 100_000}) {
                length += bytes;
                assertThat(client.call("APPEND", "k", "a".repeat(bytes)).text()).isEqualTo(Integer.toString(length));
            }
            assertThat(client.call("SETRANGE", "k", Integer.toString(length + 500_000), "end").integer())
                    .isEqualTo(length + 500_003);
            assertThat(client.call("GETRANGE", "k", "0", "9").text()).isEqualTo("0123456789");
        }
    }

    @Test
    void aCommandThatDoesNotFitEvictsNothing() throws IOException {
        try (VarveServer server = startFull(client -> {
            client.call("SET", "k", VALUE);
            fill(client, 4000);
        }); RawClient client = new RawClient(server.port())) {
            client.call("TOUCH", "k");
            long keys = client.call("DBSIZE").integer();
            assertThat(keys).isGreaterThan(2000);
            for (String[] command : new String[][] {{"COPY", "k", "copy"}, {"RENAME", "k", "n".repeat(300)},
                    {"BITOP", "NOT", "d", "k"}, {"SETRANGE", "k", "16700000", "x"}}) {
                RawReply reply = client.call(command);
                assertThat(reply.text()).as(command[0]).startsWith("OOM");
                assertThat(client.call("DBSIZE").integer()).as(command[0]).isGreaterThanOrEqualTo(keys - 100);
                assertThat(client.call("STRLEN", "k").integer()).as(command[0]).isEqualTo(LENGTH);
            }
        }
    }

    /** Queued arguments of a client are not evicted while memory is reclaimed for its next ones. */
    @Test
    void aTransactionFindsWhatItHasQueued() throws IOException {
        String value = "v".repeat(1_000_000);
        for (int i = 0; i < 5; i++) {
            try (VarveServer server = startFull(client -> {
                client.call("SET", "k", value);
                fill(client, 18_000);
                client.call("SET", "k", value);
                fill(client, 5000);
            }); RawClient client = new RawClient(server.port())) {
                assertThat(client.call("EXISTS", "k").integer()).isOne();
                assertThat(client.call("MULTI").text()).isEqualTo("OK");
                assertThat(client.call("APPEND", "k", "z").text()).isEqualTo("QUEUED");
                assertThat(client.call("SET", "other", "o".repeat(7_000_000)).text()).isEqualTo("QUEUED");
                assertThat(client.call("EXEC").elements()).extracting(RawReply::text).containsExactly("1000001", "OK");
            }
        }
    }

    /**
     * A value whose memory its key has taken over, and lost when there was none for its time: the transaction runs
     * again, and the value must still be there.
     */
    @Test
    void aLargeArgumentOfATransactionThatRunsAgainIsStillThere() throws IOException {
        try (VarveServer server = startFull(client -> {}); RawClient client = new RawClient(server.port())) {
            for (int i = 0; i < 40; i++) {
                fill(client, 18_000);
                client.call("DEL", "k", "o");
                assertThat(client.call("SET", "o", "o".repeat(1_231_108)).text()).isEqualTo("OK");
                assertThat(client.call("SET", "k", "k".repeat(2_676_896)).text()).isEqualTo("OK");
                String value = ("value " + i + ".").repeat(2000).substring(0, 13_046);
                client.queue("MULTI");
                client.queue("DUMP", "k");
                client.queue("SETEX", "k", "1000", value);
                client.queue("EXEC");
                client.flush();
                for (int reply = 0; reply < 3; reply++) {
                    assertThat(client.read().isError()).isFalse();
                }
                assertThat(client.read().elements().getLast().text()).isEqualTo("OK");
                assertThat(client.call("GET", "k").text()).as("round %d", i).isEqualTo(value);
            }
        }
    }
}
