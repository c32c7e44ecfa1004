package io.varve.server;

import java.io.IOException;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Commands whose arguments or items are large, alone and together, in a server that has room and in one that has none. Confined to
 * the test's thread.
 */
class LargeArgumentsIT {
    private static final int MB = 1 << 20;
    private static final String OOM = "OOM command not allowed when used memory > 'maxmemory'.";

    private static ServerProcess start(String policy) throws IOException {
        return ServerProcess.start("--maxmemory", "100mb", "--maxmemory-policy", policy, "--shards", "8");
    }

    /** Text of a length that begins and ends with what tells it from others. */
    private static String text(String mark, int length) {
        return mark + "x".repeat(length - 2 * mark.length()) + mark;
    }

    /** Fills what is left with short strings: the next is refused, or evicts. */
    private static void fill(RawClient client, String policy) throws IOException {
        String value = "v".repeat(10_000);
        int i = 0;
        if (policy.equals("noeviction")) {
            while (!client.call("SET", "fill:" + i, value).isError()) {
                i++;
            }
        } else {
            while (client.infoLong("evicted_keys") == 0) {
                for (int j = 0; j < 100; j++) {
                    assertThat(client.command("SET", "fill:" + i++, value)).isEqualTo("+OK\r\n");
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1000, 20_000, 100_000, 3 * MB})
    void aLongKeyMayHaveALongValue(int keyBytes) throws IOException {
        try (ServerProcess server = start("noeviction"); RawClient client = new RawClient(server.port())) {
            long before = client.infoLong("used_memory");
            String key = text("key", keyBytes);
            String other = text("other", keyBytes);
            for (int valueBytes : List.of(10, 20_000, 200_000, 5 * MB)) {
                String value = text("a", valueBytes);
                String next = text("b", valueBytes + 1);
                assertThat(client.call("SET", key, value).text()).isEqualTo("OK");
                assertThat(client.call("GET", key).text()).isEqualTo(value);
                assertThat(client.call("GETSET", key, next).text()).isEqualTo(value);
                assertThat(client.call("SETNX", other, value).integer()).isOne();
                assertThat(client.call("MSET", "small", next, other, next, key, value).text()).isEqualTo("OK");
                assertThat(client.call("GET", "small").text()).isEqualTo(next);
                assertThat(client.call("GET", other).text()).isEqualTo(next);
                assertThat(client.call("GET", key).text()).isEqualTo(value);
                assertThat(client.call("PSETEX", key, "1000000", next).text()).isEqualTo("OK");
                assertThat(client.call("PTTL", key).integer()).isPositive();
                assertThat(client.call("APPEND", key, value).integer()).isEqualTo(value.length() + next.length());
                assertThat(client.call("GETDEL", key).text()).isEqualTo(next + value);
                assertThat(client.call("DEL", other, "small").integer()).isEqualTo(2);
            }
            assertThat(client.call("DBSIZE").integer()).isZero();
            assertThat(client.infoLong("used_memory") - before).isLessThan(2 * MB);
            assertThat(server.errors()).doesNotContain("ERROR");
        }
    }

    /** What has become shorter would move to where it wastes nothing: it stays where there is no room for that. */
    @ParameterizedTest
    @ValueSource(strings = {"noeviction", "volatile-lru"})
    void aHashThatGetsSmallerNeedsNoRoom(String policy) throws IOException {
        try (ServerProcess server = start(policy); RawClient client = new RawClient(server.port())) {
            String small = text("s", 3000);
            for (int i = 0; i < 300; i++) {
                assertThat(client.call("HSET", "h", "f" + i, small + i).integer()).isOne();
            }
            assertThat(client.call("HSET", "h", "big", text("b", 2 * MB)).integer()).isOne();
            assertThat(client.call("HSET", "h", "large", text("l", 2 * MB)).integer()).isOne();
            fill(client, "noeviction");
            assertThat(client.call("SET", "one more", text("m", 900_000)).text()).isEqualTo(OOM);
            assertThat(client.call("HDEL", "h", "big").integer()).isOne();
            assertThat(client.call("HDEL", "h", "large", "f7").integer()).isEqualTo(2);
            assertThat(client.call("HLEN", "h").integer()).isEqualTo(299);
            List<RawReply> all = client.call("HGETALL", "h").elements();
            assertThat(all).hasSize(598);
            for (int i = 0; i < 598; i += 2) {
                assertThat(all.get(i + 1).text()).isEqualTo(small + all.get(i).text().substring(1));
            }
            for (int i = 0; i < 1000; i++) {
                assertThat(client.call("DEL", "fill:" + i).integer()).isOne();
            }
            assertThat(client.call("HGET", "h", "big").text()).isEqualTo("-1 (null)");
            assertThat(client.call("HSET", "h", "f8", "").integer()).isZero();
            assertThat(client.call("HGET", "h", "f8").text()).isEmpty();
            assertThat(client.call("HGET", "h", "f299").text()).isEqualTo(small + 299);
        }
    }

    /** A value that a command copies is not among its arguments, or is there once more: room is made for it all the same. */
    @Test
    void withEvictionWhatIsCopiedFindsRoom() throws IOException {
        String policy = "allkeys-random";
        try (ServerProcess server = start(policy); RawClient client = new RawClient(server.port())) {
            for (int round = 0; round < 3; round++) {
                fill(client, policy);
                assertThat(client.call("HSET", "h" + round, "f", text("f", 18 * MB)).integer()).isOne();
                fill(client, policy);
                assertThat(client.call("SETRANGE", "r" + round, Integer.toString(40 * MB), "end").integer())
                        .isEqualTo(40 * MB + 3);
                fill(client, policy);
                assertThat(client.call("SET", "s" + round, text("s", 10 * MB)).text()).isEqualTo("OK");
                // Eviction may have taken it by chance, which is no want of room.
                assertThat(client.call("RENAME", "s" + round, "t").text()).isIn("OK", "ERR no such key");
                assertThat(client.call("APPEND", "a" + round, text("a", 12 * MB)).integer()).isEqualTo(12 * MB);
                assertThat(client.call("SET", text("k", 2 * MB), "v" + round).text()).isEqualTo("OK");
                assertThat(client.command("FLUSHALL")).isEqualTo("+OK\r\n");
                assertThat(client.command("CONFIG", "RESETSTAT")).isEqualTo("+OK\r\n");
            }
            assertThat(server.memoryBytes("VmHWM")).isLessThan((100L + 256) * MB);
        }
    }

    /** The names of watched keys lie on the heap, which is small: there is an end to them, and no transaction runs unwatched. */
    @Test
    void watchedKeysDoNotFillTheHeap() throws IOException {
        String name = "k".repeat(1 << 20);
        try (ServerProcess server = start("noeviction");
                RawClient client = new RawClient(server.port());
                RawClient other = new RawClient(server.port())) {
            String reply = "";
            for (int i = 0; i < 300 && !reply.startsWith("-OOM"); i++) {
                reply = client.command("WATCH", i + name);
            }
            assertThat(reply).startsWith("-OOM");
            assertThat(other.command("WATCH", "k")).isEqualTo("+OK\r\n");
            assertThat(client.command("MULTI")).isEqualTo("+OK\r\n");
            assertThat(client.command("PING")).isEqualTo("+QUEUED\r\n");
            assertThat(client.command("EXEC")).isEqualTo("*-1\r\n");
            assertThat(client.command("WATCH", name)).isEqualTo("+OK\r\n");
        }
    }
}
