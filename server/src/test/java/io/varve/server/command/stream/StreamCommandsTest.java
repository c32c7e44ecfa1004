package io.varve.server.command.stream;

import java.util.ArrayList;
import java.util.List;

import io.varve.server.command.CommandHarness;
import io.varve.server.config.ServerConfig;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the comparison with Redis 7.0 does not show: IDs from the clock, waiting readers, options of newer versions,
 * large entries. Confined to the test's thread.
 */
class StreamCommandsTest {
    private final CommandHarness server = new CommandHarness(
            ServerConfig.defaults().with("maxmemory", "64mb").with("shards", "4"));

    @AfterEach
    void close() {
        assertThat(server.cache().checkIntegrity()).isEmpty();
        server.close();
    }

    private String run(String command) {
        return words(server.run(command));
    }

    private String runByAnother(String command) {
        return words(server.runByAnother(command.split(" ")));
    }

    private static String words(String reply) {
        return reply.replace("\r\n", " ").strip();
    }

    @Test
    void anIdWithoutNumbersIsTheTime_andTheNextOneInTheSameMillisecond() {
        long now = server.now();
        String text = now + "-0";
        assertThat(run("XADD s * f v")).isEqualTo("$" + text.length() + " " + text);
        assertThat(run("XADD s * f v")).endsWith(now + "-1");
        assertThat(run("XADD s " + (now + 5) + " f v")).endsWith(now + 5 + "-0");
        assertThat(run("XADD s * f v")).as("the clock is behind the last ID").endsWith(now + 5 + "-1");
        server.sleep(10);
        assertThat(run("XADD s * f v")).endsWith(now + 10 + "-0");
    }

    @Test
    void plusReadsTheLastEntry() {
        assertThat(run("XREAD STREAMS s +")).isEqualTo("*-1");
        run("XADD s 1-0 f v");
        run("XADD s 2-0 f w");
        assertThat(run("XREAD STREAMS s +")).isEqualTo("*1 *2 $1 s *1 *2 $3 2-0 *2 $1 f $1 w");
        run("XADD s 3-0 f x");
        run("XDEL s 3-0");
        assertThat(run("XREAD COUNT 5 STREAMS s +")).as("the last that exists").contains("2-0").doesNotContain("1-0");
    }

    // --- waiting

    @Test
    void allWaitingReadersAreServed_butThoseOfGreaterIds() {
        run("XADD s 1-0 f v");
        assertThat(server.isDelayed("XREAD", "BLOCK", "0", "STREAMS", "s", "$")).isTrue();
        assertThat(runByAnother("XADD s 2-0 f w")).endsWith("2-0");
        assertThat(server.blockedKeys().isAnyWaiting()).isFalse();
        assertThat(run("XREAD BLOCK 0 STREAMS s $")).isEqualTo("*1 *2 $1 s *1 *2 $3 2-0 *2 $1 f $1 w");
        assertThat(server.isDelayed("XREAD", "BLOCK", "0", "STREAMS", "none", "s", "$", "9-0")).isTrue();
        assertThat(runByAnother("XADD s 3-0 f x")).endsWith("3-0");
        assertThat(server.blockedKeys().isAnyWaiting()).as("it waits for a greater ID").isTrue();
        assertThat(runByAnother("XADD s 9-1 f y")).endsWith("9-1");
        assertThat(server.blockedKeys().isAnyWaiting()).isFalse();
        assertThat(run("XREAD BLOCK 0 STREAMS none s $ 9-0")).isEqualTo("*1 *2 $1 s *1 *2 $3 9-1 *2 $1 f $1 y");
    }

    @Test
    void aWaitingReaderIsServedOnlyIfSomethingIsLeft() {
        assertThat(server.isDelayed("XREAD", "BLOCK", "0", "STREAMS", "s", "$")).isTrue();
        assertThat(runByAnother("RPUSH s a")).isEqualTo(":1");
        assertThat(runByAnother("DEL s")).isEqualTo(":1");
        assertThat(server.blockedKeys().isAnyWaiting()).as("another type").isTrue();
        assertThat(runByAnother("XADD s 1-0 f v")).endsWith("1-0");
        assertThat(server.blockedKeys().isAnyWaiting()).isFalse();
        assertThat(run("XREAD BLOCK 0 STREAMS s $")).endsWith("1-0 *2 $1 f $1 v");
    }

    @Test
    void withinATransactionNobodyWaits() {
        run("MULTI");
        run("XREAD BLOCK 0 STREAMS s $");
        assertThat(run("EXEC")).isEqualTo("*1 *-1");
    }

    // --- sizes

    @Test
    void entriesOfManyBlocksCanBeReadTrimmedAndDeleted() {
        run("CONFIG SET stream-node-max-entries 10");
        List<String> ids = new ArrayList<>();
        for (int i = 1; i <= 1000; i++) {
            run("XADD s " + i + "-0 field value" + i);
            ids.add(i + "-0");
        }
        assertThat(run("XINFO STREAM s")).contains("radix-tree-keys :100 ");
        assertThat(ids(run("XRANGE s - +"))).isEqualTo(ids);
        assertThat(ids(run("XREVRANGE s + -"))).isEqualTo(ids.reversed());
        assertThat(run("XTRIM s MAXLEN ~ 55")).isEqualTo(":940");
        assertThat(run("XTRIM s MAXLEN = 55")).isEqualTo(":5");
        assertThat(ids(run("XRANGE s - +"))).isEqualTo(ids.subList(945, 1000));
        for (int i = 946; i <= 1000; i++) {
            assertThat(run("XDEL s " + i + "-0")).isEqualTo(":1");
        }
        assertThat(run("XLEN s")).isEqualTo(":0");
        assertThat(run("EXISTS s")).isEqualTo(":1");
        assertThat(run("XADD s 1000-* f v")).endsWith("1000-1");
        assertThat(run("XRANGE s - +")).isEqualTo("*1 *2 $6 1000-1 *2 $1 f $1 v");
    }

    private static List<String> ids(String reply) {
        List<String> ids = new ArrayList<>();
        for (String word : reply.split(" ")) {
            if (word.matches("\\d+-\\d+")) {
                ids.add(word);
            }
        }
        return ids;
    }

    @Test
    void entriesOfMegabytesHaveBlocksOfTheirOwn() {
        String large = "x".repeat(3_000_000);
        for (int i = 1; i <= 5; i++) {
            assertThat(words(server.run("XADD", "s", i + "-0", "small", "value"))).endsWith(i + "-0");
            assertThat(words(server.run("XADD", "s", i + "-1", "large", large + i))).endsWith(i + "-1");
        }
        assertThat(run("XINFO STREAM s")).contains("length :10 ");
        assertThat(words(server.run("XRANGE", "s", "3-1", "3-1"))).endsWith(large + 3);
        assertThat(run("COPY s t")).isEqualTo(":1");
        assertThat(run("XTRIM s MINID 5-0")).isEqualTo(":8");
        assertThat(run("XLEN t")).isEqualTo(":10");
        assertThat(run("RENAME t s")).isEqualTo("+OK");
        assertThat(words(server.run("XREVRANGE", "s", "5-1", "5-1"))).endsWith(large + 5);
    }

    @Test
    void aRefusedEntryChangesNothing() {
        String large = "x".repeat(2_000_000);
        int added = 0;
        while (words(server.run("XADD", "s", ++added + "-0", "f", large)).startsWith("$")) {
            assertThat(added).isLessThan(40);
        }
        assertThat(run("XLEN s")).isEqualTo(":" + (added - 1));
        assertThat(run("XINFO STREAM s")).contains("last-generated-id $" + (added + "-0").length());
        assertThat(run("XDEL s 1-0 2-0")).as("without memory").isEqualTo(":2");
        assertThat(run("XTRIM s MAXLEN 3")).isEqualTo(":" + (added - 6));
        assertThat(run("XADD s " + added + "-0 f v")).endsWith(added + "-0");
    }

    @Test
    void countersOfABlockMayBecomeLonger() {
        run("CONFIG SET stream-node-max-entries 0");
        run("CONFIG SET stream-node-max-bytes 0");
        for (int i = 1; i <= 300; i++) {
            run("XADD s " + i + "-0 f v");
        }
        assertThat(run("XINFO STREAM s")).contains("radix-tree-keys :1 ");
        for (int i = 1; i <= 200; i++) {
            assertThat(run("XDEL s " + i + "-0")).isEqualTo(":1");
        }
        assertThat(run("XTRIM s MAXLEN = 20")).isEqualTo(":80");
        assertThat(ids(run("XRANGE s - +"))).hasSize(20).startsWith("281-0");
        assertThat(ids(run("XREVRANGE s + -"))).hasSize(20).startsWith("300-0");
    }

    // --- events

    @Test
    void eventsAreThoseOfRedis() {
        run("HELLO 3");
        run("CONFIG SET notify-keyspace-events Et");
        run("SUBSCRIBE __keyevent@0__:xadd __keyevent@0__:xdel __keyevent@0__:xtrim __keyevent@0__:xsetid");
        String all = run("XADD s 1-0 f v") + run("XADD s MAXLEN 1 2-0 f v") + run("XDEL s 2-0") + run("XSETID s 9-0")
                + run("XADD s 10-0 f v") + run("XTRIM s MAXLEN 0") + run("XTRIM s MAXLEN 0") + run("XDEL s 1-1")
                + run("PING");
        List<String> events = new ArrayList<>();
        for (String word : all.split(" ")) {
            if (word.startsWith("__keyevent@0__:")) {
                events.add(word.replace("__keyevent@0__:", ""));
            }
        }
        assertThat(events).containsExactly("xadd", "xadd", "xtrim", "xdel", "xsetid", "xadd", "xtrim");
    }
}
