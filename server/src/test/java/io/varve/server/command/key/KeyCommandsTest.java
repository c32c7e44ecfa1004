package io.varve.server.command.key;

import io.varve.memory.item.Item;
import io.varve.server.command.CommandHarness;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Access recency and expiry times, at a time that the test sets. Confined to the test's thread. */
class KeyCommandsTest {
    private final CommandHarness server = new CommandHarness();

    @AfterEach
    void close() {
        assertThat(server.cache().checkIntegrity()).isEmpty();
        server.close();
    }

    private String idleAfter(String command) {
        server.run("FLUSHALL");
        server.run("MSET s 12 s2 cd");
        server.run("HSET h f 1");
        server.run("RPUSH l a b c");
        server.sleep(30_000);
        assertThat(server.run(command)).as(command).doesNotStartWith("-");
        return server.run("OBJECT", "IDLETIME", command.contains(" h") ? "h" : command.contains(" l") ? "l" : "s");
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET s", "STRLEN s", "GETRANGE s 0 1", "MGET s", "GETEX s", "TOUCH s", "APPEND s 3",
            "SETRANGE s 0 9", "INCR s", "INCRBYFLOAT s 1", "EXPIRE s 100", "PERSIST s", "SETNX s v", "SET s v NX",
            "SET s v", "SET s v XX", "MSETNX s v", "RENAMENX s2 s", "COPY s s3", "HGET h f", "HSET h f 2", "HSET h g 1",
            "HSETNX h f 2", "HDEL h missing", "HINCRBY h f 1", "HLEN h", "HGETALL h", "HSCAN h 0",
            "LPUSH l x", "LPOP l", "LRANGE l 0 1", "LLEN l", "LINDEX l 0", "LSET l 0 x", "LPOS l a", "LREM l 0 a",
            "LTRIM l 0 1", "LMOVE l l LEFT RIGHT", "LMOVE l l2 LEFT RIGHT", "LMPOP 1 l LEFT", "BLPOP l 0"})
    void useRenewsTheAccessClock(String command) {
        assertThat(idleAfter(command)).isEqualTo(":0\r\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"EXISTS s", "TYPE s", "TTL s", "PTTL s", "EXPIRETIME s", "OBJECT ENCODING s",
            "OBJECT REFCOUNT s", "OBJECT IDLETIME s", "MEMORY USAGE s", "SCAN 0", "KEYS *", "RANDOMKEY", "DBSIZE",
            "TYPE h", "EXISTS h"})
    void introspectionKeepsAccessClocks(String command) {
        assertThat(idleAfter(command)).isEqualTo(":30\r\n");
    }

    @Test
    void noTouchKeepsAccessClocks() {
        server.run("CLIENT NO-TOUCH ON");
        assertThat(idleAfter("GET s")).isEqualTo(":30\r\n");
        assertThat(idleAfter("INCR s")).isEqualTo(":30\r\n");
        assertThat(idleAfter("EXISTS s")).isEqualTo(":30\r\n");
        assertThat(idleAfter("GET s")).isEqualTo(":30\r\n");
        assertThat(idleAfter("TOUCH s")).isEqualTo(":0\r\n");
        assertThat(idleAfter("GET s")).isEqualTo(":30\r\n");
    }

    @Test
    void expiryTimesBeyondTheMaximumAreReportedAsStored() {
        long latest = Item.LATEST_EXPIRY_MILLIS;
        server.run("SET s v");
        assertThat(server.run("PEXPIREAT s 999999999999999")).isEqualTo(":1\r\n");
        assertThat(server.run("PEXPIRETIME s")).isEqualTo(":" + latest + "\r\n");
        assertThat(server.run("EXPIRETIME s")).isEqualTo(":" + (latest + 500) / 1000 + "\r\n");
        assertThat(server.run("PTTL s")).isEqualTo(":" + (latest - server.now()) + "\r\n");
        assertThat(server.run("PEXPIREAT s 9999999999999999 GT")).isEqualTo(":0\r\n");
        assertThat(server.run("SET t v PXAT 999999999999999")).isEqualTo("+OK\r\n");
        assertThat(server.run("PEXPIRETIME t")).isEqualTo(":" + latest + "\r\n");
        assertThat(server.run("GETEX t EXAT 9999999999999")).isEqualTo("$1\r\nv\r\n");
        assertThat(server.run("PEXPIRETIME t")).isEqualTo(":" + latest + "\r\n");
        assertThat(server.run("EXPIREAT t 99999999999999999"))
                .isEqualTo("-ERR invalid expire time in 'expireat' command\r\n");
        assertThat(server.run("PERSIST t")).isEqualTo(":1\r\n");
        assertThat(server.run("PTTL t")).isEqualTo(":-1\r\n");
    }
}
