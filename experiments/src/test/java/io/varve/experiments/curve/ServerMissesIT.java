package io.varve.experiments.curve;

import java.io.IOException;
import java.util.List;

import io.varve.experiments.simulate.YcsbKeys;
import io.varve.experiments.wire.RespConnection;
import io.varve.experiments.wire.RespErrorException;
import io.varve.experiments.wire.ServerInfo;
import io.varve.server.VarveServer;
import io.varve.server.config.ServerConfig;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Measures the misses of a server. Confined to the test's thread. */
class ServerMissesIT {
    private static final int KEYS = 60_000;
    private static final long REQUESTS = 400_000;

    /**
     * A server whose maxmemory can be a megabyte and a half, however many processors there are: the defaults depend on
     * them.
     */
    private static ServerConfig small() {
        return ServerConfig.defaults().with("bind", "127.0.0.1").with("port", "0").with("maxmemory", "64mb")
                .with("shards", "8").with("segment-size", "64kb");
    }

    @Test
    void serverMissesAboutAsItsCurvePredicts() throws Exception {
        try (VarveServer server = VarveServer.start(small());
                RespConnection connection = new RespConnection("127.0.0.1", server.port())) {
            List<ServerMisses.Row> rows = new ServerMisses(connection)
                    .measure(new YcsbKeys(YcsbKeys.Distribution.of("zipfian"), KEYS, REQUESTS, 0.05));
            assertThat(rows).hasSize(3);
            assertThat(rows).allSatisfy(row -> {
                assertThat(row.reads()).isBetween(REQUESTS / 2 - 10, 2 * REQUESTS);
                assertThat(row.measured()).isBetween(0.01, 0.99);
                // The reading of a small server; its accuracy is a question for the experiment.
                assertThat(row.error()).as("%s", row).isLessThan(10);
            });
            assertThat(rows.get(0).measured()).isGreaterThan(rows.get(1).measured() + 0.05);
            assertThat(rows.get(1).measured()).isGreaterThan(rows.get(2).measured() + 0.05);
            assertThat(ServerInfo.parse(connection.call("INFO", "everything")).number("evicted_keys").orElse(0))
                    .isPositive();
        }
    }

    @Test
    void serverWithTooLittleMemory_refusesAndStaysUnchanged() throws IOException {
        try (VarveServer server = VarveServer.start(small());
                RespConnection connection = new RespConnection("127.0.0.1", server.port())) {
            assertThatThrownBy(() -> new ServerMisses(connection)
                    .measure(new YcsbKeys(YcsbKeys.Distribution.of("uniform"), 10, 100, 0)))
                    .isInstanceOf(RespErrorException.class).hasMessageStartingWith("OOM");
            assertThat(connection.call("CONFIG", "GET", "maxmemory").lines()).endsWith("67108864");
        }
    }
}
