package io.varve.server.command.introspection;

import io.varve.server.command.CommandHarness;
import io.varve.server.config.ServerConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The clients that {@code enable-debug-command} allows DEBUG, and the effects of DEBUG. Confined to the test's thread.
 */
class DebugAccessTest {
    @ParameterizedTest
    @CsvSource({"local,127.0.0.1:5,true", "local,127.8.9.10:5,true", "local,[0:0:0:0:0:0:0:1]:5,true",
            "local,192.0.2.1:5,false", "local,[2001:db8:0:0:0:0:0:1]:5,false", "local,[fe80:0:0:0:1:2:3:4%2]:5,false",
            "local,?:0,false", "yes,192.0.2.1:5,true", "no,127.0.0.1:5,false"})
    void localClientsAreRecognizedByAddress(String setting, String address, boolean allowed) {
        ServerConfig config = ServerConfig.defaults().with("maxmemory", "64mb").with("shards", "1")
                .with("enable-debug-command", setting);
        try (CommandHarness harness = new CommandHarness(config, address)) {
            assertThat(harness.run("DEBUG SLEEP 0"))
                    .startsWith(allowed ? "+OK" : "-ERR DEBUG command not allowed. If the enable-debug-command option");
        }
    }

    @Test
    void setActiveExpire0KeepsExpiredItems() {
        try (CommandHarness harness = new CommandHarness()) {
            assertThat(harness.run("DEBUG SET-ACTIVE-EXPIRE 0")).isEqualTo("+OK\r\n");
            assertThat(harness.run("SET k v PX 10")).isEqualTo("+OK\r\n");
            passSeconds(harness);
            assertThat(harness.run("INFO varve exact")).contains("expired_unreclaimed_items:1\r\n");
            assertThat(harness.run("DEBUG SET-ACTIVE-EXPIRE 1")).isEqualTo("+OK\r\n");
            passSeconds(harness);
            assertThat(harness.run("INFO varve exact")).contains("expired_unreclaimed_items:0\r\n");
            assertThat(harness.run("DEBUG SET-ACTIVE-EXPIRE foo"))
                    .isEqualTo("-ERR value is not an integer or out of range\r\n");
        }
    }

    private static void passSeconds(CommandHarness harness) {
        for (int i = 0; i < 50; i++) {
            harness.sleep(100);
            harness.cache().maintain();
        }
    }
}
