package io.varve.server.command;

import io.varve.server.config.ServerConfig;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Settings that change what data commands do, from the start and at run time. Confined to the test's thread. */
class ConfiguredLimitsTest extends HarnessTest {
    private static final String TOO_LONG = "-ERR string exceeds maximum allowed size (proto-max-bulk-len)\r\n";

    @Test
    void aHashWithManyFieldsReportsHashtable() {
        server.close();
        server = new CommandHarness(ServerConfig.defaults().with("maxmemory", "64mb")
                .with("hash-max-listpack-entries", "2"));
        server.run("HSET h a 1 b 2");
        assertThat(encodingOf("h")).isEqualTo("listpack");
        server.run("HSET h c 3");
        assertThat(encodingOf("h")).isEqualTo("hashtable");
        assertThat(server.run("CONFIG SET hash-max-ziplist-entries 3")).isEqualTo("+OK\r\n");
        server.run("HSET i a 1 b 2 c 3");
        assertThat(encodingOf("i")).isEqualTo("listpack");
        server.run("HSET i d 4");
        assertThat(encodingOf("i")).isEqualTo("hashtable");
        server.run("HDEL h a b");
        assertThat(encodingOf("h")).as("a hashtable stays one").isEqualTo("hashtable");
    }

    @Test
    void aHashWithALongValueReportsHashtable() {
        server.run("HSET h f " + "v".repeat(64));
        assertThat(encodingOf("h")).isEqualTo("listpack");
        assertThat(server.run("CONFIG SET hash-max-listpack-value 8")).isEqualTo("+OK\r\n");
        server.run("HSET h f 123456789");
        assertThat(encodingOf("h")).isEqualTo("hashtable");
        server.run("HSET i 12345678 12345678");
        assertThat(encodingOf("i")).isEqualTo("listpack");
    }

    @Test
    void noStringGrowsBeyondTheConfiguredLength() {
        int limit = 2 << 20;
        assertThat(server.run("CONFIG SET proto-max-bulk-len 2mb")).isEqualTo("+OK\r\n");
        assertThat(server.run("SETRANGE", "s", Integer.toString(limit - 1), "x")).isEqualTo(":" + limit + "\r\n");
        assertThat(server.run("APPEND s y")).isEqualTo(TOO_LONG);
        assertThat(server.run("SETRANGE", "s", Integer.toString(limit), "x")).isEqualTo(TOO_LONG);
        assertThat(server.run("SETRANGE", "s", Integer.toString(limit - 1), "xy")).isEqualTo(TOO_LONG);
        assertThat(server.run("CONFIG SET proto-max-bulk-len 3mb")).isEqualTo("+OK\r\n");
        assertThat(server.run("APPEND s y")).isEqualTo(":" + (limit + 1) + "\r\n");
    }

    @Test
    void incrbyfloatWritesText() {
        server.run("SET n 1.5");
        assertThat(server.run("INCRBYFLOAT n 1.5")).isEqualTo("$1\r\n3\r\n");
        assertThat(encodingOf("n")).isEqualTo("embstr");
        server.run("COPY n m");
        assertThat(encodingOf("m")).isEqualTo("embstr");
        server.run("INCR n");
        assertThat(encodingOf("n")).isEqualTo("int");
        server.run("INCRBYFLOAT new 2");
        assertThat(encodingOf("new")).isEqualTo("embstr");
        server.run("APPEND new 2");
        assertThat(encodingOf("new")).isEqualTo("raw");
        server.run("SET new 2");
        assertThat(encodingOf("new")).isEqualTo("int");
    }
}
