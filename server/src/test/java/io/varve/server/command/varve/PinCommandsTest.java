package io.varve.server.command.varve;

import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.varve.memory.eviction.EvictionPolicy;
import io.varve.server.command.CommandHarness;
import io.varve.server.command.HarnessTest;
import io.varve.server.config.ServerConfig;
import io.varve.server.differential.random.RandomCommands;
import io.varve.server.differential.random.ScriptStep;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/** VARVE.PIN and VARVE.UNPIN. Confined to the test's thread. */
class PinCommandsTest extends HarnessTest {
    private static final int SCRIPTS = TestBudget.ofInt("varve.pins.scripts", 20, 400);
    private static final int SCRIPT_COMMANDS = 200;
    private static final int MANY = 60_000;
    /** Commands after which another key has the name of a pinned one, or none. */
    private static final Set<String> NEW_KEYS = Set.of("rename", "renamenx", "move", "swapdb", "flushall", "flushdb",
            "restore", "exec");

    /** Those that wait, or change the connection or the server. */
    private static final Pattern OTHERS = Pattern.compile("b[lrz].*|wait.*|.*subscribe|multi|exec|discard|select|watch"
            + "|unwatch|reset|quit|client|config|acl|auth|hello|debug|shutdown|monitor|failover|(replica|slave)of"
            + "|cluster|sync|psync|replconf|bgsave|save|bgrewriteaof|latency|slowlog|memory|object|command|info");

    PinCommandsTest() {
        super(new CommandHarness(config("allkeys-lru")));
    }

    private static ServerConfig config(String policy) {
        return ServerConfig.defaults().with("maxmemory", "16mb").with("shards", "4").with("maxmemory-policy", policy)
                .with("enable-debug-command", "yes");
    }

    private void reopen(ServerConfig config) {
        server.close();
        server = new CommandHarness(config);
    }

    private boolean isPinned(String key) {
        return execute("DEBUG", "OBJECT", key).contains(" pinned:1");
    }

    private long memory(String field) {
        String text = server.run("INFO", "memory");
        int at = text.indexOf("\r\n" + field + ":") + field.length() + 3;
        return Long.parseLong(text.substring(at, text.indexOf('\r', at)));
    }

    @Test
    void keysThatExistArePinnedAndCounted() {
        expect("VARVE.PIN a", ":0");
        execute("MSET a 1 b 2 c 3");
        expect("VARVE.PIN a none b", ":2");
        expect("VARVE.PIN a", ":1");
        assertThat(List.of(isPinned("a"), isPinned("b"), isPinned("c"))).containsExactly(true, true, false);
        assertThat(memory("pinned_keys")).isEqualTo(2);
        assertThat(memory("pinned_bytes")).isPositive().isLessThan(100);
        expect("VARVE.UNPIN a c none a", ":1");
        assertThat(memory("pinned_keys")).isEqualTo(1);
        expect("VARVE.UNPIN b", ":1");
        assertThat(memory("pinned_bytes")).isZero();
        assertThat(execute("VARVE.PIN")).startsWith("-ERR wrong number of arguments");
    }

    @Test
    void beyondTheLimitNoKeyIsPinned() {
        execute("SET", "big", "x".repeat(100_000));
        execute("SET", "small", "x");
        expect("CONFIG SET pin-max-bytes 50000", "+OK");
        assertThat(execute("VARVE.PIN", "small", "big"))
                .isEqualTo("-ERR pinned keys would take more than pin-max-bytes, which allows 50000 bytes");
        assertThat(isPinned("small")).isFalse();
        expect("VARVE.PIN small", ":1");
        assertThat(execute("VARVE.PIN", "small", "big")).startsWith("-ERR");
        assertThat(isPinned("small")).as("it was pinned before").isTrue();
        expect("CONFIG SET pin-max-bytes 1%", "+OK");
        expect("VARVE.PIN small big", ":2");
        expect("CONFIG SET pin-max-bytes 0", "+OK");
        assertThat(execute("VARVE.PIN", "small")).as("no more than it was").isEqualTo(":1");
        execute("SET", "other", "x");
        assertThat(execute("VARVE.PIN", "other")).startsWith("-ERR");
        assertThat(execute("CONFIG GET pin-max-bytes")).endsWith(" 0");
    }

    @Test
    void thePinBelongsToTheKey() {
        execute("SET", "a", "1");
        expect("VARVE.PIN a", ":1");
        execute("SET", "a", "x".repeat(100_000));
        execute("APPEND", "a", "y");
        execute("EXPIRE", "a", "100");
        assertThat(isPinned("a")).isTrue();
        execute("COPY", "a", "copy");
        assertThat(isPinned("copy")).isFalse();
        execute("SET", "b", "1");
        execute("RENAME", "a", "b");
        assertThat(isPinned("b")).as("the value of a pinned key").isTrue();
        execute("SET", "c", "1");
        execute("RENAME", "c", "b");
        assertThat(isPinned("b")).as("the value of another key").isFalse();
        expect("VARVE.PIN b", ":1");
        execute("MOVE", "b", "3");
        execute("SELECT", "3");
        assertThat(isPinned("b")).isTrue();
        execute("DEL", "b");
        execute("SET", "b", "1");
        assertThat(isPinned("b")).isFalse();
        expect("VARVE.PIN b", ":1");
        execute("PEXPIRE", "b", "10");
        server.sleep(20);
        expect("EXISTS b", ":0");
        assertThat(memory("pinned_keys")).isZero();
    }

    @Test
    void largeCollectionsMoveWithTheirPins() {
        for (int i = 0; i < 2000; i++) {
            execute("HSET", "hash", "field" + i, "value" + i);
        }
        expect("VARVE.PIN hash", ":1");
        long bytes = memory("pinned_bytes");
        assertThat(bytes).isGreaterThan(2000 * 15);
        for (int i = 0; i < 20; i++) {
            execute("SET", "to" + i, "1");
            if (i % 2 == 0) {
                execute("VARVE.PIN", "to" + i);
            }
            assertThat(execute("RENAME", i == 0 ? "hash" : "to" + (i - 1), "to" + i)).isEqualTo("+OK");
            assertThat(isPinned("to" + i)).isTrue();
            assertThat(memory("pinned_keys")).isEqualTo(1);
            assertThat(memory("pinned_bytes")).isBetween(bytes - 20, bytes + 20);
            assertThat(server.cache().checkIntegrity()).isEmpty();
        }
        for (int i = 0; i < 1900; i++) {
            execute("HDEL", "to19", "field" + i);
        }
        assertThat(memory("pinned_bytes")).isLessThan(bytes / 4);
        execute("DEL", "to19");
        assertThat(memory("pinned_bytes")).isZero();
    }

    /** The whole of the keyspace is renewed many times; the pinned keys were used before all others. */
    @ParameterizedTest
    @EnumSource(value = EvictionPolicy.class, mode = EnumSource.Mode.EXCLUDE, names = "NOEVICTION")
    void pinnedKeysOutliveOthers(EvictionPolicy policy) {
        reopen(config(policy.redisName()).with("penalty-tracking", "yes"));
        for (int i = 0; i < 300; i++) {
            execute("SET", "string" + i, "value" + i, "EX", "100000");
            execute("HSET", "hash", "field" + i, "value" + i);
        }
        execute("SET", "large", "x".repeat(200_000), "EX", "100000");
        execute("EXPIRE", "hash", "100000");
        for (int i = 0; i < 300; i++) {
            expect("VARVE.PIN string" + i + " large hash", ":3");
        }
        server.sleep(10_000);
        String value = "v".repeat(900);
        for (int i = 0; i < MANY; i++) {
            if (!server.run("SET", "key" + i, value, "EX", "1000").equals("+OK\r\n")) {
                throw new AssertionError("key " + i);
            }
        }
        for (int i = 0; i < 300; i++) {
            assertThat(execute("GET", "string" + i)).endsWith(" value" + i);
        }
        expect("STRLEN large", ":200000");
        expect("HLEN hash", ":300");
        assertThat(memory("pinned_keys")).isEqualTo(302);
    }

    /** Whatever a command does to a pinned key, it is pinned as long as it exists. */
    @Test
    void anyCommandKeepsThePin() {
        long first = TestBudget.seed("varve.test.seed");
        for (long seed = first; seed < first + SCRIPTS; seed++) {
            reopen(config("allkeys-lru"));
            Set<String> pinned = Set.of();
            for (ScriptStep step : new RandomCommands(seed, false).script(SCRIPT_COMMANDS)) {
                List<String> words = step.arguments();
                String name = words.getFirst().toLowerCase(Locale.ROOT);
                if (OTHERS.matcher(name).matches()) {
                    continue;
                }
                String reply = server.run(words.toArray(String[]::new));
                Set<String> keys = keys();
                Set<String> still = new HashSet<>(pinned);
                still.retainAll(keys);
                if (!NEW_KEYS.contains(name) && !still.isEmpty()) {
                    assertThat(call("VARVE.UNPIN", still)).as("seed %d: %s: %s", seed, words, reply)
                            .isEqualTo(":" + still.size());
                }
                if (!keys.isEmpty()) {
                    assertThat(call("VARVE.PIN", keys)).isEqualTo(":" + keys.size());
                }
                assertThat(memory("pinned_keys")).as("seed %d: %s", seed, words).isGreaterThanOrEqualTo(keys.size());
                pinned = keys;
            }
            assertThat(server.cache().checkIntegrity()).as("seed %d", seed).isEmpty();
        }
    }

    private String call(String command, Set<String> keys) {
        return execute(Stream.concat(Stream.of(command), keys.stream()).toArray(String[]::new));
    }

    /** Names may have any bytes. */
    private Set<String> keys() {
        String reply = server.run("KEYS", "*");
        Set<String> keys = new HashSet<>();
        for (int at = reply.indexOf('\n') + 1; at < reply.length();) {
            int end = reply.indexOf('\r', at);
            int length = Integer.parseInt(reply.substring(at + 1, end));
            keys.add(reply.substring(end + 2, end + 2 + length));
            at = end + 2 + length + 2;
        }
        return keys;
    }
}
