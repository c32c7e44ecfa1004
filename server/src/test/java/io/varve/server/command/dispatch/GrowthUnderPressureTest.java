package io.varve.server.command.dispatch;

import io.varve.server.command.CommandHarness;
import io.varve.server.config.ServerConfig;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A value that grows is admitted by what the command brings, and may need room for all of what it was: under a policy
 * that evicts, that is no reason to refuse it. Confined to the test's thread.
 */
class GrowthUnderPressureTest {
    private static final int PIECES = 300;
    private static final String PIECE = "p".repeat(4000);

    @Test
    void growingValuesAreNotRefusedWhereOthersMayGo() {
        ServerConfig config = ServerConfig.defaults().with("maxmemory", "8mb").with("shards", "2")
                .with("maxmemory-policy", "allkeys-random");
        try (CommandHarness server = new CommandHarness(config)) {
            for (int i = 0; i < 4000; i++) {
                assertThat(server.run("SET", "filler" + i, PIECE)).isEqualTo("+OK\r\n");
            }
            for (int i = 0; i < PIECES; i++) {
                assertThat(server.run("APPEND", "grown", PIECE)).as("piece %d", i).startsWith(":");
                assertThat(server.run("HSET", "fields", "f" + i % 60, PIECE)).as("field %d", i).startsWith(":");
                assertThat(server.run("RPUSH", "elements", PIECE)).as("element %d", i).startsWith(":");
                assertThat(server.run("RPUSH", "elements", PIECE, "short", PIECE)).as("element %d", i).startsWith(":");
                assertThat(server.run("ZADD", "scored", "" + i, i % 60 + PIECE)).as("member %d", i).startsWith(":");
                assertThat(server.run("ZADD", "scored", "1", i % 70 + PIECE, "2", "short", "3", i % 80 + PIECE))
                        .as("member %d", i).startsWith(":");
                if (i > 60) {
                    assertThat(server.run("LMOVE", "elements", "moved", "LEFT", "LEFT")).startsWith("$");
                    assertThat(server.run("RPOP", "moved")).startsWith("$");
                }
                assertThat(server.run("SET", "filler" + i, PIECE)).isEqualTo("+OK\r\n");
                assertThat(server.run("EXPIRE", "filler" + i, "1000")).startsWith(":");
            }
            assertThat(server.cache().checkIntegrity()).isEmpty();
        }
    }
}
