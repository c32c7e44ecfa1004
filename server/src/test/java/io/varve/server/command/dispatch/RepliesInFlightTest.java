package io.varve.server.command.dispatch;

import java.util.List;

import io.netty.buffer.ByteBuf;
import io.varve.memory.CacheSession;
import io.varve.memory.item.Item;
import io.varve.memory.item.Key;
import io.varve.memory.item.ValueRun;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.CommandHarness;
import io.varve.server.resp.RunBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Writes to a key do not change a large value of it that is being sent. Confined to the test's thread. */
class RepliesInFlightTest {
    private static final int LENGTH = 200_000;
    private final CommandHarness server = new CommandHarness();

    @BeforeEach
    void aLargeStringWithSpareCapacity() {
        server.run("SET", "s", "a".repeat(LENGTH));
        server.run("APPEND s a");
        server.run("SETRANGE s 0 a");
    }

    @AfterEach
    void close() {
        assertThat(server.cache().checkIntegrity()).isEmpty();
        server.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"APPEND s b", "SETRANGE s 5 bbbb", "SETRANGE s 200000 bbbb", "SETRANGE s 300000 b",
            "SET s b",
            "GETSET s b", "DEL s", "EXPIRE s 100", "EXPIRE s -1", "RENAME s t", "MSET s b", "FLUSHALL", "INCR s",
            "GETEX s EX 100", "SETEX s 100 b"})
    void aReplyInFlightKeepsTheOldString(String command) {
        List<ByteBuf> unread = server.runUnread("GET", "s");
        assertThat(unread).as("the value goes out of its run").anyMatch(RunBuffer.class::isInstance);
        server.run(command);
        server.run("SET", "other", "c".repeat(LENGTH));
        assertThat(CommandHarness.text(unread)).isEqualTo("$200001\r\n" + "a".repeat(LENGTH + 1) + "\r\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"SETRANGE s 5 b", "APPEND s b"})
    void afterTheReplyIsSentTheStringIsChangedInPlace(String command) {
        CommandHarness.text(server.runUnread("GET", "s"));
        Item item = new Item();
        long before = find(server.cache().newSession(), "s", item).address();
        server.run(command);
        assertThat(find(server.cache().newSession(), "s", item).address()).isEqualTo(before);
    }

    /** No command sends a hash out of its run yet; a holder of one is safe regardless. */
    @ParameterizedTest
    @ValueSource(strings = {"HSET h f0 b", "HSET h f0 bb", "HSET h f0 longer", "HSET h new b", "HSET h f0 b f1 b",
            "HMSET h f0 bb f1 c", "HSETNX h new b", "HDEL h f0", "HDEL h f0 f1", "HINCRBY h n 1", "HINCRBYFLOAT h n 1",
            "DEL h", "HEXPIRE h 100 FIELDS 1 f0", "HEXPIREAT h 1 FIELDS 2 f0 n",
            "HSETEX h EX 9 FIELDS 1 f0 b", "HSETEX h EX 0 FIELDS 1 f0 b", "HGETEX h EX 9 FIELDS 1 f0",
            "HGETDEL h FIELDS 1 f0"})
    void aHeldRunKeepsTheOldHash(String command) {
        // A tree is in no run.
        server.run("CONFIG SET packed-max-bytes 64mb");
        server.run("HSET", "h", "big", "x".repeat(LENGTH), "f0", "aa", "f1", "a", "n", "1");
        Item item = new Item();
        CacheSession session = server.cache().newSession();
        find(session, "h", item);
        ValueRun run = session.runOf(item);
        assertThat(run).isNotNull();
        run.retain();
        int length = item.valueLength();
        byte[] before = Memory.toArray(run.address(), length);
        assertThat(server.run(command))
                .startsWith(command.startsWith("HMSET")
                        ? "+"
                        : command.contains("FLOAT")
                                ? "$"
                                : command.contains("FIELDS") && !command.contains("SETEX") ? "*" : ":");
        assertThat(Memory.toArray(run.address(), length)).isEqualTo(before);
        run.release();
    }

    @Test
    void expiredFieldsOfAHeldHashAreRemovedAfterItsRelease() {
        server.run("CONFIG SET packed-max-bytes 64mb");
        server.run("HSET", "h", "big", "x".repeat(LENGTH), "f0", "aa", "f1", "a", "n", "1");
        server.run("HPEXPIRE h 50 FIELDS 2 f0 n");
        Item item = new Item();
        CacheSession session = server.cache().newSession();
        find(session, "h", item);
        ValueRun run = session.runOf(item);
        assertThat(run).isNotNull();
        run.retain();
        byte[] before = Memory.toArray(run.address(), item.valueLength());
        for (int i = 0; i < 30; i++) {
            server.sleep(100);
            server.cache().maintain();
        }
        assertThat(server.run("HMGET h f0 f1 n")).isEqualTo("*3\r\n$-1\r\n$1\r\na\r\n$-1\r\n");
        assertThat(Memory.toArray(run.address(), before.length)).isEqualTo(before);
        assertThat(server.run("INFO stats")).contains("expired_subkeys:0\r\n");
        run.release();
        server.sleep(100);
        server.cache().maintain();
        assertThat(server.run("INFO stats")).contains("expired_subkeys:2\r\n");
        assertThat(server.run("HLEN h")).isEqualTo(":2\r\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ZADD z 5 a", "ZADD z 2.5 a", "ZADD z 2 new", "ZADD z 1 x 2 a 3 y", "ZINCRBY z 7 a",
            "ZREM z a", "ZPOPMIN z", "ZREMRANGEBYRANK z 0 1", "ZUNIONSTORE z 1 z", "ZRANGESTORE z z 0 1", "DEL z"})
    void aHeldRunKeepsTheOldSortedSet(String command) {
        // A tree is in no run.
        server.run("CONFIG SET packed-max-bytes 64mb");
        server.run("ZADD", "z", "3", "x".repeat(LENGTH), "1", "a", "2", "b");
        Item item = new Item();
        CacheSession session = server.cache().newSession();
        find(session, "z", item);
        ValueRun run = session.runOf(item);
        assertThat(run).isNotNull();
        run.retain();
        byte[] before = Memory.toArray(run.address(), item.valueLength());
        assertThat(server.run(command)).doesNotStartWith("-");
        assertThat(Memory.toArray(run.address(), before.length)).isEqualTo(before);
        run.release();
    }

    private Item find(CacheSession session, String name, Item item) {
        try (java.lang.foreign.Arena arena = java.lang.foreign.Arena.ofConfined()) {
            Key key = new Key();
            session.now(server.now());
            session.bind(key, 0, arena.allocateFrom(name).address(), name.length());
            session.lock(key);
            try {
                assertThat(session.peek(key, item)).isTrue();
            } finally {
                session.unlock(key);
            }
        }
        return item;
    }
}
