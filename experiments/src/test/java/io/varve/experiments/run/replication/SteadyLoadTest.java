package io.varve.experiments.run.replication;

import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.varve.experiments.server.RemoteTarget;
import io.varve.experiments.server.Target;
import io.varve.experiments.wire.RespConnection;
import io.varve.server.VarveServer;
import io.varve.server.config.ConfigException;
import io.varve.server.config.ServerConfig;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Tests the steady load, the lag and the comparison of data, with servers inside this process. Confined to the test's
 * thread.
 */
final class SteadyLoadTest {
    private static final int KEYS = 200;
    private static final int VALUE_BYTES = 32;
    private static final long DEADLINE_NANOS = TimeUnit.SECONDS.toNanos(60);

    private VarveServer server;
    private VarveServer other;

    /** @param debug whether DEBUG is allowed */
    private static VarveServer start(String debug) throws IOException, ConfigException {
        return VarveServer.start(ServerConfig.defaults().with("bind", "127.0.0.1").with("port", "0")
                .with("maxmemory", "32mb").with("enable-debug-command", debug).validate());
    }

    @BeforeEach
    void startServers() throws IOException, ConfigException {
        server = start("local");
        other = start("local");
    }

    @AfterEach
    void stopServers() {
        server.close();
        other.close();
    }

    private static Target target(VarveServer of) {
        return new RemoteTarget("127.0.0.1", of.port());
    }

    private static RespConnection connect(VarveServer to) throws IOException {
        return new RespConnection("127.0.0.1", to.port());
    }

    private static void await(SteadyLoad load, long replies) throws IOException {
        long end = System.nanoTime() + DEADLINE_NANOS;
        for (long done = 0; done < replies; done += load.take().replies()) {
            assertThat(System.nanoTime()).as("no reply").isLessThan(end);
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
        }
    }

    @Test
    void writes_reachTheServerWithValuesOfTheirOwn() throws IOException {
        SteadyLoad load = SteadyLoad.start(target(server), 20_000, 0, KEYS, VALUE_BYTES, 1);
        await(load, 20L * KEYS);
        load.close();
        SteadyLoad.Result rest = load.take();
        assertThat(rest.errors()).isZero();
        try (RespConnection connection = connect(server)) {
            assertThat(connection.call("DBSIZE")).isEqualTo(String.valueOf(KEYS));
            Set<String> values = new HashSet<>();
            for (int key = 0; key < KEYS; key++) {
                values.add(connection.call("GET", SteadyLoad.key(key)));
            }
            assertThat(values).hasSize(KEYS).allMatch(value -> value.length() == VALUE_BYTES);
        }
    }

    @Test
    void errorsAndMissingKeys_areCounted() throws IOException {
        try (RespConnection connection = connect(server)) {
            connection.call("LPUSH", SteadyLoad.key(0), "not a string");
        }
        SteadyLoad.Result result;
        try (SteadyLoad load = SteadyLoad.start(target(server), 5_000, 100, 2, VALUE_BYTES, 1)) {
            long end = System.nanoTime() + DEADLINE_NANOS;
            long errors = 0;
            long missed = 0;
            do {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
                result = load.take();
                errors += result.errors();
                missed += result.missed();
            } while ((errors == 0 || missed == 0) && System.nanoTime() < end);
            assertThat(errors).as("GET of a list").isPositive();
            assertThat(missed).as("GET of no key").isPositive();
        }
    }

    @Test
    void serverThatEnds_isAFailure() throws IOException {
        SteadyLoad load = SteadyLoad.start(target(server), 5_000, 100, 2, VALUE_BYTES, 1);
        await(load, 1);
        server.close();
        assertThatThrownBy(load::close).isInstanceOf(IOException.class).hasMessageContaining("the load on 127.0.0.1");
    }

    @Test
    void unexpectedException_isAFailure() throws IOException {
        // There is no random key of none.
        SteadyLoad load = SteadyLoad.start(target(server), 5_000, 100, 0, VALUE_BYTES, 1);
        assertThatThrownBy(() -> await(load, Long.MAX_VALUE)).isInstanceOf(IOException.class)
                .hasMessageContaining("the load on 127.0.0.1").cause().isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(load::close).isInstanceOf(IOException.class).hasMessageContaining("the load on 127.0.0.1");
    }

    @Test
    void lag_isMeasuredForEachMarker() throws IOException {
        try (LagProbe probe = LagProbe.start(target(server), target(server));
                RespConnection connection = connect(server)) {
            awaitMarker(connection, 3);
            LagProbe.Result lag = probe.stop();
            assertThat(lag.markers()).isGreaterThanOrEqualTo(3);
            assertThat(lag.open()).isZero();
            assertThat(lag.maxMillis()).isGreaterThanOrEqualTo(lag.p99Millis());
            assertThat(lag.p99Millis()).isGreaterThanOrEqualTo(lag.medianMillis());
        }
    }

    @Test
    void replicaThatReturnsNoMarker_isReported() throws IOException {
        try (LagProbe probe = LagProbe.start(target(server), target(other), 1);
                RespConnection connection = connect(server)) {
            awaitMarker(connection, 2);
            LagProbe.Result lag = probe.stop();
            assertThat(lag.open()).isGreaterThanOrEqualTo(2).isEqualTo(lag.markers());
            assertThat(lag.maxMillis()).isPositive();
        }
    }

    @Test
    void unexpectedExceptionOfTheLag_isAFailure() throws IOException {
        try (RespConnection connection = connect(other)) {
            connection.call("SET", "lag-marker", "no number");
        }
        try (LagProbe probe = LagProbe.start(target(server), target(other), 1)) {
            assertThatThrownBy(probe::stop).isInstanceOf(IOException.class).cause()
                    .isInstanceOf(NumberFormatException.class);
        }
    }

    private static void awaitMarker(RespConnection connection, int number) throws IOException {
        long end = System.nanoTime() + DEADLINE_NANOS;
        String value = "";
        while (value.isEmpty() || Integer.parseInt(value) < number) {
            assertThat(System.nanoTime()).as("no marker").isLessThan(end);
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
            value = connection.call("GET", "lag-marker");
        }
    }

    @Test
    void data_isComparedByDigestAndByValue() throws IOException, ConfigException {
        try (RespConnection connection = connect(server); RespConnection second = connect(other)) {
            for (int key = 0; key < KEYS; key++) {
                connection.call("SET", SteadyLoad.key(key), "v" + key);
                second.call("SET", SteadyLoad.key(key), "v" + key);
            }
            assertIsSame(true);
            second.call("SET", SteadyLoad.key(KEYS - 1), "other");
            assertIsSame(false);
            second.call("SET", SteadyLoad.key(KEYS - 1), "v" + (KEYS - 1));
            second.call("SET", "one more", "v");
            assertIsSame(false);
        }
    }

    @Test
    void dataOfAServerWithoutDebug_isComparedByValue() throws IOException, ConfigException {
        DataComparison.Result allowed = DataComparison.compare(target(server), target(other), KEYS);
        assertThat(allowed).isEqualTo(new DataComparison.Result(true, DataComparison.DIGEST));
        try (VarveServer strict = start("no")) {
            DataComparison.Result refused = DataComparison.compare(target(server), target(strict),
                    KEYS);
            assertThat(refused).isEqualTo(new DataComparison.Result(true, DataComparison.VALUES));
        }
    }

    private void assertIsSame(boolean isSame) throws IOException, ConfigException {
        assertThat(DataComparison.compare(target(server), target(other), KEYS).isSame())
                .as("by digest")
                .isEqualTo(isSame);
        try (RespConnection one = connect(server); RespConnection two = connect(other)) {
            boolean hasSameSize = one.call("DBSIZE").equals(two.call("DBSIZE"));
            assertThat(hasSameSize && DataComparison.hasSameValues(one, two, KEYS)).as("by value").isEqualTo(isSame);
        }
    }
}
