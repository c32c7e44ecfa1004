package io.varve.server.command.dispatch;

import io.varve.server.command.CommandHarness;
import io.varve.server.config.ServerConfig;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Sets, bitmaps and HyperLogLogs grow under an evicting policy if other keys can be evicted. Confined to the test's
 * thread.
 */
class SetGrowthUnderPressureTest {
    private static final int ROUNDS = 300;
    private static final String PIECE = "p".repeat(4000);

    @Test
    void growingSetsEvictOthers() {
        ServerConfig config = ServerConfig.defaults().with("maxmemory", "8mb").with("shards", "2")
                .with("maxmemory-policy", "allkeys-random");
        try (CommandHarness server = new CommandHarness(config)) {
            for (int i = 0; i < 4000; i++) {
                assertThat(server.run("SET", "filler" + i, PIECE)).isEqualTo("+OK\r\n");
            }
            for (int i = 0; i < ROUNDS; i++) {
                assertThat(server.run("SADD", "set", i % 60 + PIECE, "" + i)).as("round %d", i).startsWith(":");
                assertThat(server.run("SADD", "integers", "" + i * 100_000L)).as("round %d", i).startsWith(":");
                assertThat(server.run("SMOVE", "set", "other", "" + i)).as("round %d", i).startsWith(":");
                assertThat(server.run("SUNIONSTORE", "union" + i % 4, "set", "integers")).as("round %d", i)
                        .startsWith(":");
                assertThat(server.run("SUNIONSTORE", "other", "set", "other")).as("round %d", i).startsWith(":");
                assertThat(server.run("SETBIT", "bits", "" + i * 4000, "1")).as("round %d", i).startsWith(":");
                assertThat(server.run("BITOP", "OR", "bits" + i % 3, "bits", "filler" + i)).as("round %d", i)
                        .startsWith(":");
                assertThat(server.run("PFADD", "hll" + i % 30, "" + i, PIECE)).as("round %d", i).startsWith(":");
                assertThat(server.run("PFMERGE", "merged" + i % 3, "hll" + i % 30)).isEqualTo("+OK\r\n");
                assertThat(server.run("SET", "filler" + i, PIECE)).isEqualTo("+OK\r\n");
            }
            assertThat(server.cache().checkIntegrity()).isEmpty();
        }
    }
}
