package io.varve.server.command.stream;

import io.varve.server.command.CommandHarness;
import io.varve.server.config.ServerConfig;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** What commands on keys of any type do with streams. Confined to the test's thread. */
class StreamKeysTest {
    private final CommandHarness server = new CommandHarness(ServerConfig.defaults().with("maxmemory", "16mb")
            .with("shards", "2").with("maxmemory-policy", "allkeys-lru"));

    @AfterEach
    void close() {
        assertThat(server.cache().checkIntegrity()).isEmpty();
        server.close();
    }

    private long number(String... command) {
        return Long.parseLong(server.run(command).substring(1).strip());
    }

    @Test
    void memoryUsageGrowsWithEntriesAndGroups() {
        String value = "v".repeat(100);
        server.run("XADD", "s", "1-1", "f", value);
        long one = number("MEMORY", "USAGE", "s");
        assertThat(one).isBetween(100L, 1000L);
        for (int i = 2; i <= 1000; i++) {
            server.run("XADD", "s", i + "-1", "f", value);
        }
        long many = number("MEMORY", "USAGE", "s");
        assertThat(many).isBetween(100_000L, 200_000L);
        server.run("XGROUP", "CREATE", "s", "g", "0");
        server.run("XREADGROUP", "GROUP", "g", "c", "STREAMS", "s", ">");
        assertThat(number("MEMORY", "USAGE", "s")).isBetween(many + 20_000, many + 200_000);
        assertThat(number("XTRIM", "s", "MAXLEN", "0")).isEqualTo(1000);
        assertThat(number("MEMORY", "USAGE", "s")).isLessThan(many);
    }

    @Test
    void streamsExpireWithTheirGroups() {
        for (int i = 1; i <= 500; i++) {
            server.run("XADD", "s", i + "-1", "f", "v");
        }
        server.run("XGROUP", "CREATE", "s", "g", "0");
        server.run("XREADGROUP", "GROUP", "g", "c", "STREAMS", "s", ">");
        assertThat(server.run("PEXPIRE", "s", "1000")).isEqualTo(":1\r\n");
        assertThat(server.run("COPY", "s", "t")).isEqualTo(":1\r\n");
        assertThat(number("PTTL", "t")).isBetween(1L, 1000L);
        assertThat(server.run("PEXPIREAT", "s", "1")).isEqualTo(":1\r\n");
        assertThat(server.run("EXISTS", "s")).isEqualTo(":0\r\n");
        assertThat(server.run("RENAME", "t", "s")).isEqualTo("+OK\r\n");
        assertThat(server.run("XLEN", "s")).isEqualTo(":500\r\n");
        assertThat(server.run("XPENDING", "s", "g")).startsWith("*4\r\n:500\r\n");
    }

    @Test
    void streamsAreEvicted() {
        for (int i = 0; i < 2000; i++) {
            for (int j = 1; j <= 3; j++) {
                assertThat(server.run("XADD", "s" + i, j + "-1", "f", "v".repeat(6000))).isEqualTo("$3\r\n" + j
                        + "-1\r\n");
            }
            server.run("XGROUP", "CREATE", "s" + i, "g", "0");
        }
        assertThat(number("DBSIZE")).isBetween(1L, 1999L);
        assertThat(server.run("XLEN", "s1999")).isEqualTo(":3\r\n");
    }
}
