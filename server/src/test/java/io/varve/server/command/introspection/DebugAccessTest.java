package io.varve.server.command.introspection;

import io.varve.server.command.CommandHarness;
import io.varve.server.config.ServerConfig;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** From where DEBUG is allowed, by {@code enable-debug-command}. Confined to the test's thread. */
class DebugAccessTest {
    @ParameterizedTest
    @CsvSource({"local,127.0.0.1:5,true", "local,127.8.9.10:5,true", "local,[0:0:0:0:0:0:0:1]:5,true",
            "local,192.0.2.1:5,false", "local,[2001:db8:0:0:0:0:0:1]:5,false", "local,[fe80:0:0:0:1:2:3:4%2]:5,false",
            "local,?:0,false", "yes,192.0.2.1:5,true", "no,127.0.0.1:5,false"})
    void itIsToldByTheClientsAddress(String setting, String address, boolean allowed) {
        ServerConfig config = ServerConfig.defaults().with("maxmemory", "64mb").with("shards", "1")
                .with("enable-debug-command", setting);
        try (CommandHarness harness = new CommandHarness(config, address)) {
            assertThat(harness.run("DEBUG SLEEP 0"))
                    .startsWith(allowed ? "+OK" : "-ERR DEBUG command not allowed. If the enable-debug-command option");
        }
    }
}
