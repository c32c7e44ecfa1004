package io.varve.server.command;

import java.util.ArrayList;
import java.util.List;

import io.varve.server.config.ServerConfig;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A fresh collection does not lose a tie of access clocks; time stands still here, so all clocks tie. Confined to the
 * test's thread.
 */
class FreshCollectionsTest {
    private static final int ELEMENTS = 30;
    private static final int PIECES = 50;

    @ParameterizedTest
    @ValueSource(strings = {"allkeys-lru", "allkeys-lfu", "allkeys-penalty"})
    void freshCollectionsAreEvictedLast(String policy) {
        String filler = "f".repeat(900);
        try (CommandHarness harness = new CommandHarness(ServerConfig.defaults().with("maxmemory", "16mb")
                .with("shards", "8").with("maxmemory-policy", policy))) {
            for (int i = 0; i < 20_000; i++) {
                harness.run("SET", "filler" + i, filler);
            }
            for (int round = 0; round < 5; round++) {
                String key = "list" + round;
                for (int i = 0; i < PIECES; i++) {
                    List<String> command = new ArrayList<>(List.of("RPUSH", key));
                    for (int j = 0; j < ELEMENTS; j++) {
                        command.add("e".repeat(1000));
                    }
                    harness.run(command.toArray(String[]::new));
                }
                for (int i = 0; i < 1000; i++) {
                    harness.run("SET", "after" + round + "-" + i, filler);
                }
                assertThat(harness.run("LLEN", key)).as(policy + ", round " + round)
                        .isEqualTo(":" + PIECES * ELEMENTS + "\r\n");
                harness.run("DEL", key);
            }
        }
    }
}
