package io.varve.server.pressure;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerProcess;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * Tests commands with large arguments or items, alone and combined, in a server with free memory and in a full one.
 * Confined to the test's thread.
 */
class LargeArgumentsIT {
    private static final int MB = 1 << 20;
    private static final int ROUNDS = TestBudget.ofInt("varve.pressure.rounds", 1, 3);
    private static final String OOM = "OOM command not allowed when used memory > 'maxmemory'.";
    private static final String HEAP_USED_UP = "OOM the heap budget for arguments and keys of requests is used up: send"
            + " fewer of them in one request";

    private static List<Integer> keySizes() {
        return TestBudget.cases(List.of(20_000, 3 * MB), List.of(1000, 100_000));
    }

    private static List<String> policiesThatKeepHashes() {
        return TestBudget.cases(List.of("volatile-lru"), List.of("noeviction"));
    }

    /** The command, the bytes of a name, and how many names one command has. */
    private static List<Arguments> channels() {
        return TestBudget.cases(List.of(arguments("PSUBSCRIBE", 60_000, 1), arguments("SUBSCRIBE", 10, 10_000)),
                List.of(arguments("SUBSCRIBE", 1_000_000, 1), arguments("SSUBSCRIBE", 1000, 1)));
    }

    /** The number of listeners and the bytes of a message. */
    private static List<Arguments> listeners() {
        return TestBudget.cases(List.of(arguments(6, 20), arguments(120, 60_000)),
                List.of(arguments(6, 1000), arguments(6, 50_000), arguments(6, 1_000_000)));
    }

    private static ServerProcess start(String policy) throws IOException {
        return ServerProcess.start("--maxmemory", "100mb", "--maxmemory-policy", policy, "--shards", "8");
    }

    /** A text of this length that begins and ends with a distinguishing mark. */
    private static String text(String mark, int length) {
        return mark + "x".repeat(length - 2 * mark.length()) + mark;
    }

    /** Fills what is left with short strings: the next is refused, or evicts. */
    private static void fill(RawClient client, String policy) throws IOException {
        String value = "v".repeat(10_000);
        int i = 0;
        boolean full = false;
        while (!full) {
            for (int j = 0; j < 100; j++) {
                client.queue("SET", "fill:" + i++, value);
            }
            client.flush();
            for (int j = 0; j < 100; j++) {
                boolean refused = client.read().isError();
                assertThat(refused && !policy.equals("noeviction")).isFalse();
                full |= refused;
            }
            full |= !policy.equals("noeviction") && client.infoLong("evicted_keys") > 0;
        }
    }

    @ParameterizedTest
    @MethodSource("keySizes")
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

    /** A value that became shorter would move to where it wastes nothing: it stays if there is no memory for that. */
    @ParameterizedTest
    @MethodSource("policiesThatKeepHashes")
    void aShrinkingHashNeedsNoMemory(String policy) throws IOException {
        try (ServerProcess server = start(policy); RawClient client = new RawClient(server.port())) {
            String small = text("s", 3000);
            for (int i = 0; i < 300; i++) {
                client.queue("HSET", "h", "f" + i, small + i);
            }
            client.flush();
            for (int i = 0; i < 300; i++) {
                assertThat(client.read().integer()).isOne();
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
                client.queue("DEL", "fill:" + i);
            }
            client.flush();
            for (int i = 0; i < 1000; i++) {
                assertThat(client.read().integer()).isOne();
            }
            assertThat(client.call("HGET", "h", "big").text()).isEqualTo("-1 (null)");
            assertThat(client.call("HSET", "h", "f8", "").integer()).isZero();
            assertThat(client.call("HGET", "h", "f8").text()).isEmpty();
            assertThat(client.call("HGET", "h", "f299").text()).isEqualTo(small + 299);
        }
    }

    /**
     * A value that a command copies is not among its arguments, or exists twice: memory is reclaimed for it
     * nevertheless.
     */
    @Test
    void withEvictionCopiesFindMemory() throws IOException {
        String policy = "allkeys-random";
        try (ServerProcess server = start(policy); RawClient client = new RawClient(server.port())) {
            for (int round = 0; round < ROUNDS; round++) {
                fill(client, policy);
                assertThat(client.call("HSET", "h" + round, "f", text("f", 18 * MB)).integer()).isOne();
                fill(client, policy);
                assertThat(client.call("SETRANGE", "r" + round, Integer.toString(40 * MB), "end").integer())
                        .isEqualTo(40 * MB + 3);
                fill(client, policy);
                assertThat(client.call("SET", "s" + round, text("s", 10 * MB)).text()).isEqualTo("OK");
                // Eviction may have removed it by chance, which is not a lack of memory.
                assertThat(client.call("RENAME", "s" + round, "t").text()).isIn("OK", "ERR no such key");
                assertThat(client.call("APPEND", "a" + round, text("a", 12 * MB)).integer()).isEqualTo(12 * MB);
                assertThat(client.call("SET", text("k", 2 * MB), "v" + round).text()).isEqualTo("OK");
                assertThat(client.command("FLUSHALL")).isEqualTo("+OK\r\n");
                assertThat(client.command("CONFIG", "RESETSTAT")).isEqualTo("+OK\r\n");
            }
            assertThat(server.memoryBytes("VmHWM")).isLessThan((100L + 256) * MB);
        }
    }

    /**
     * The names of watched keys lie on the heap, which is small: there is an end to them, and no transaction runs
     * unwatched.
     */
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

    /**
     * Names of channels and patterns, many or long, are limited too; a client that disconnects releases its own.
     */
    @ParameterizedTest
    @MethodSource("channels")
    void channelsDoNotFillTheHeap(String command, int bytes, int together) throws IOException {
        String name = "n".repeat(bytes);
        try (ServerProcess server = start("noeviction"); RawClient other = new RawClient(server.port())) {
            for (int round = 0; round < 2; round++) {
                try (RawClient client = new RawClient(server.port())) {
                    long subscribed = subscribeUntilRefused(client, command, name, together);
                    assertThat(subscribed * (bytes + 300L)).isGreaterThan(20L * MB);
                    assertThat(other.call("PUBLISH", "0" + name, "x").integer()).isBetween(0L, 1L);
                    assertThat(client.call("PING").elements().getFirst().text()).isIn("pong", "message", "pmessage");
                }
                await().until(() -> other.infoLong("pubsub_channels") + other.infoLong("pubsub_patterns")
                        + other.infoLong("pubsubshard_channels") == 0);
            }
            assertThat(server.errors()).doesNotContain("ERROR");
        }
    }

    /** @return how many names it listens to in the end */
    private static long subscribeUntilRefused(RawClient client, String command, String name, int together)
            throws IOException {
        for (int i = 0;; i += together) {
            String[] words = new String[together + 1];
            words[0] = command;
            for (int j = 0; j < together; j++) {
                words[j + 1] = (i + j) + name;
            }
            client.queue(words);
            client.flush();
            for (int j = 0; j < together; j++) {
                RawReply reply = client.read();
                if (reply.isError()) {
                    assertThat(reply.text()).isEqualTo(HEAP_USED_UP);
                    return (long) i + j;
                }
                assertThat(reply.elements().getLast().integer()).isEqualTo((long) i + j + 1);
            }
        }
    }

    /**
     * It arrives in its own memory, from which all subscribers get it: the heap and the pools would have no space for
     * it.
     */
    @Test
    void aMessageMayBeLarge() throws IOException {
        String message = text("m", 40 * MB);
        try (ServerProcess server = start("noeviction");
                RawClient publisher = new RawClient(server.port());
                RawClient one = new RawClient(server.port());
                RawClient two = new RawClient(server.port())) {
            assertThat(publisher.command("CONFIG", "SET", "client-output-buffer-limit", "pubsub 64mb 0 0"))
                    .isEqualTo("+OK\r\n");
            long before = publisher.infoLong("used_memory");
            assertThat(one.command("SUBSCRIBE", "c")).startsWith("*3");
            assertThat(two.command("PSUBSCRIBE", "*")).startsWith("*3");
            for (int round = 0; round < ROUNDS; round++) {
                assertThat(publisher.call("PUBLISH", "c", message).integer()).isEqualTo(2);
                for (RawClient listener : List.of(one, two)) {
                    assertThat(listener.read().elements().getLast().text().equals(message)).isTrue();
                }
                assertThat(publisher.command("MULTI")).isEqualTo("+OK\r\n");
                assertThat(publisher.call("PUBLISH", "c", message).text()).isEqualTo("QUEUED");
                assertThat(publisher.command("EXEC")).isEqualTo("*1\r\n:2\r\n");
                for (RawClient listener : List.of(two, one)) {
                    assertThat(listener.read().elements().getLast().text().equals(message)).isTrue();
                }
            }
            await().until(() -> publisher.infoLong("used_memory") < before + 2 * MB);
            // The subscribers are disconnected; their event loops have yet to drop pending messages.
            await().atMost(20, TimeUnit.SECONDS).until(() -> publisher.infoLong("undelivered_message_bytes") == 0);
            assertThat(server.memoryBytes("VmHWM")).isLessThan((100L + 256) * MB);
            assertThat(server.errors()).doesNotContain("ERROR");
        }
    }

    /** Messages for all of them would fill the heap's share many times over: the publisher is delayed, not refused. */
    @Test
    void aFastPublisherWaits() throws Exception {
        int listeners = 300;
        int messages = 4096;
        int together = 512;
        String text = "x".repeat(50);
        try (ServerProcess server = start("noeviction");
                RawClient publisher = new RawClient(server.port());
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Integer>> listening = new ArrayList<>();
            for (int i = 0; i < listeners; i++) {
                RawClient client = new RawClient(server.port());
                assertThat(client.command("SUBSCRIBE", "c")).startsWith("*3");
                listening.add(threads.submit(() -> countInOrder(client, messages)));
            }
            for (int i = 0; i < messages; i += together) {
                for (int j = i; j < i + together; j++) {
                    publisher.queue("PUBLISH", "c", j + " " + text);
                }
                publisher.flush();
                for (int j = i; j < i + together; j++) {
                    assertThat(publisher.read()).hasToString(":\"" + listeners + "\"");
                }
            }
            for (Future<Integer> one : listening) {
                assertThat(one.get()).isEqualTo(messages);
            }
            assertThat(publisher.infoLong("undelivered_message_bytes")).isZero();
            assertThat(server.errors()).doesNotContain("ERROR");
        }
    }

    /** @return how many messages came that were numbered as they should be */
    private static int countInOrder(RawClient client, int messages) throws IOException {
        int next = 0;
        try (client) {
            while (next < messages && client.read().elements().getLast().text().startsWith(next + " ")) {
                next++;
            }
        }
        return next;
    }

    /**
     * With the default limits of subscribers: one that does not read is disconnected, and the heap holds little for it.
     */
    @ParameterizedTest
    @MethodSource("listeners")
    void listenersThatDoNotReadDoNotFillTheHeap(int listeners, int bytes) throws IOException {
        String message = text("m", bytes);
        int batch = Math.max(1, 200_000 / bytes);
        List<RawClient> slow = new ArrayList<>();
        try (ServerProcess server = start("noeviction"); RawClient publisher = new RawClient(server.port())) {
            for (int i = 0; i < listeners; i++) {
                RawClient client = new RawClient(server.port(), 32 << 10);
                slow.add(client);
                assertThat(client.command("SUBSCRIBE", "c")).startsWith("*3");
            }
            long listening = slow.size();
            while (listening > 0) {
                for (int i = 0; i < batch; i++) {
                    publisher.queue("PUBLISH", "c", message);
                }
                publisher.flush();
                for (int i = 0; i < batch; i++) {
                    RawReply reply = publisher.read();
                    assertThat(reply.isInteger()).as("%s", reply).isTrue();
                    listening = reply.integer();
                }
            }
            // The subscribers are disconnected; their event loops have yet to drop pending messages.
            await().atMost(20, TimeUnit.SECONDS).until(() -> publisher.infoLong("undelivered_message_bytes") == 0);
            assertThat(server.memoryBytes("VmHWM")).isLessThan((100L + 256) * MB);
            assertThat(server.errors()).doesNotContain("ERROR");
        } finally {
            for (RawClient client : slow) {
                client.close();
            }
        }
    }
}
