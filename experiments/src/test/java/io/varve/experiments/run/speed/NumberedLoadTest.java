package io.varve.experiments.run.speed;

import java.io.IOException;
import java.util.Objects;

import io.varve.experiments.run.context.Cancellation;
import io.varve.experiments.server.RemoteTarget;
import io.varve.experiments.wire.RespConnection;
import io.varve.server.VarveServer;
import io.varve.server.config.ConfigException;
import io.varve.server.config.ServerConfig;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that each numbered request is sent once, and finds what it needs, by what is in a server afterwards. Confined
 * to the test's thread.
 */
final class NumberedLoadTest {
    private static final int CONNECTIONS = 3;
    private static final int PIPELINE = 16;

    private VarveServer server;

    @BeforeEach
    void startServer() throws IOException, ConfigException {
        server = VarveServer.start(ServerConfig.defaults().with("bind", "127.0.0.1").with("port", "0")
                .with("maxmemory", "32mb").validate());
    }

    @AfterEach
    void stopServer() {
        server.close();
    }

    private String entriesAndPending() throws IOException {
        String count = "return redis.call('xlen', KEYS[1]) .. ' ' .. redis.call('xpending', KEYS[1], 'group')[1]";
        try (RespConnection connection = new RespConnection("127.0.0.1", server.port())) {
            return connection.call("EVAL", count, "1", "stream");
        }
    }

    private String keys() throws IOException {
        try (RespConnection connection = new RespConnection("127.0.0.1", server.port())) {
            return connection.call("DBSIZE");
        }
    }

    private NumberedLoad load(String name, int requests) {
        return new NumberedLoad(Objects.requireNonNull(NumberedTest.of(name)),
                new RemoteTarget("127.0.0.1", server.port()), requests,
                new Cancellation());
    }

    /** The load is prepared and run twice, as each repetition does. */
    @ParameterizedTest
    @CsvSource({"XADD, 0 0, 1003 0", "XREADGROUP, 1003 0, 1003 1003", "XACK, 1003 1003, 1003 0"})
    void everyEntry_isSentOnce(String name, String before, String after) throws IOException {
        NumberedLoad load = load(name, 1003);
        for (int repetition = 0; repetition < 2; repetition++) {
            load.prepare();
            assertThat(entriesAndPending()).as("entries and pending ones").isEqualTo(before);
            assertThat(load.run(CONNECTIONS, PIPELINE).ops()).isPositive();
            assertThat(entriesAndPending()).isEqualTo(after);
        }
    }

    @ParameterizedTest
    @CsvSource({"EVALSHA-UNLOCK, 1003, 0", "EVALSHA-BUCKET, 0, 1003", "EVALSHA-LOOP, 0, 0"})
    void everyScript_hasAKeyOfItsOwn(String name, String before, String after) throws IOException {
        NumberedLoad load = load(name, 1003);
        load.prepare();
        assertThat(keys()).isEqualTo(before);
        load.run(CONNECTIONS, PIPELINE);
        assertThat(keys()).isEqualTo(after);
    }
}
