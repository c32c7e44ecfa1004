package io.varve.server.command;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.varve.memory.collection.CollectionTree;
import io.varve.server.config.ServerConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Keyspace events of keys that expire or are evicted, at a time that the test sets. Confined to the test's thread. */
class KeyEventsTest {
    private static final Pattern MESSAGE = Pattern
            .compile(">[34]\r\n(?:\\$\\d+\r\n[^\r]*\r\n){1,2}\\$\\d+\r\n([^\r]*)\r\n\\$\\d+\r\n([^\r]*)\r\n");
    private static final int BASE_MILLIS = 1000;
    private static final int CYCLE_MILLIS = 100;

    private static CommandHarness listening(ServerConfig config, String selection) {
        CommandHarness harness = new CommandHarness(config);
        harness.run("HELLO 3");
        assertThat(harness.run("CONFIG SET notify-keyspace-events " + selection)).isEqualTo("+OK\r\n");
        harness.run("PSUBSCRIBE __key*");
        return harness;
    }

    private static CommandHarness listening(String selection) {
        return listening(ServerConfig.defaults().with("maxmemory", "64mb").with("shards", "4"), selection);
    }

    /** The events published since the last call. */
    private static List<String> events(CommandHarness harness) {
        return messages(harness.run("PING"));
    }

    private static List<String> messages(String replies) {
        List<String> reported = new ArrayList<>();
        for (Matcher next = MESSAGE.matcher(replies); next.find();) {
            reported.add(next.group(1) + " " + next.group(2));
        }
        return reported;
    }

    @Test
    void expiredIsEmittedWithinOneTimeBucketWithoutAccess() {
        try (CommandHarness harness = listening("KEx")) {
            for (int ttl = 100; ttl <= 200_000; ttl *= 2) {
                harness.run("SET k v PX " + ttl);
                harness.sleep(ttl);
                harness.cache().maintain();
                assertThat(events(harness)).as("not before it is past").isEmpty();
                int cycles = 0;
                List<String> reported = List.of();
                while (reported.isEmpty()) {
                    assertThat(cycles++).as("cycles after %d ms", ttl)
                            .isLessThanOrEqualTo(BASE_MILLIS / CYCLE_MILLIS + 1);
                    harness.sleep(CYCLE_MILLIS);
                    harness.cache().maintain();
                    reported = events(harness);
                }
                assertThat(reported).containsExactly("__keyspace@0__:k expired", "__keyevent@0__:expired k");
            }
        }
    }

    @Test
    void expiredIsEmittedBeforeTheCommandsOwnEvent() {
        try (CommandHarness harness = listening("Ex$gnm")) {
            StringBuilder replies = new StringBuilder(harness.run("SET k v PX 10"));
            harness.sleep(11);
            replies.append(harness.run("GET k")).append(harness.run("SET k v PX 10"));
            harness.sleep(11);
            replies.append(harness.run("INCR k")).append(harness.run("PING"));
            assertThat(messages(replies.toString())).map(reported -> reported.replace("__keyevent@0__:", ""))
                    .containsExactly(
                            "new k", "set k", "expire k", "expired k", "keymiss k", "new k", "set k", "expire k",
                            "expired k",
                            "new k", "incrby k");
        }
    }

    @Test
    void evictionEmitsEvents() {
        ServerConfig small = ServerConfig.defaults().with("maxmemory", "4mb").with("shards", "1")
                .with("maxmemory-policy", "allkeys-random");
        try (CommandHarness harness = listening(small, "Ee")) {
            String value = "v".repeat(1000);
            int reported = 0;
            for (int i = 0; i < 10_000; i++) {
                reported += messages(harness.run("SET", "key" + i, value)).size();
            }
            reported += events(harness).size();
            assertThat(reported).isPositive().isEqualTo((int) harness.cache().stats().evicted());
        }
    }

    @Test
    void flushdbEmitsNoEvents() {
        try (CommandHarness harness = listening("KEA")) {
            harness.run("SET k v EX 1");
            harness.run("PING");
            harness.run("FLUSHALL");
            harness.sleep(10_000);
            harness.cache().maintain();
            harness.run("SWAPDB 0 1");
            assertThat(events(harness)).isEmpty();
        }
    }

    @Test
    void eventsBeforeTheSelectionAreNotPublished() {
        try (CommandHarness harness = new CommandHarness()) {
            harness.run("HELLO 3");
            harness.run("PSUBSCRIBE __key*");
            harness.begin();
            harness.add("SET", "a", "1");
            harness.add("CONFIG", "SET", "notify-keyspace-events", "K$");
            harness.add("SET", "b", "1");
            harness.add("PUNSUBSCRIBE");
            harness.add("SET", "c", "1");
            harness.add("SUBSCRIBE", "__keyspace@0__:c");
            harness.add("SET", "c", "2");
            harness.add("CONFIG", "SET", "notify-keyspace-events", "");
            harness.add("SET", "c", "3");
            harness.add("PING");
            harness.execute();
            assertThat(messages(CommandHarness.text(harness.takeReply()))).containsExactly("__keyspace@0__:b set",
                    "__keyspace@0__:c set");
        }
    }

    /** Also where the member is so long that the set is a tree at once. */
    @ParameterizedTest
    @ValueSource(ints = {5, CollectionTree.MAX_PACKED_BYTES + 1})
    void smoveEmitsNewOnceForItsTarget(int length) {
        try (CommandHarness harness = listening("Esgn")) {
            String member = "m".repeat(length);
            harness.run("SADD", "from", member);
            harness.run("PING");
            String replies = harness.run("SMOVE", "from", "to", member) + harness.run("PING");
            assertThat(messages(replies)).map(reported -> reported.replace("__keyevent@0__:", "")).containsExactly(
                    "srem from",
                    "del from", "new to", "sadd to");
        }
    }
}
