package io.varve.server.pressure;

import java.io.IOException;
import java.util.concurrent.TimeUnit;

import io.varve.server.VarveServer;
import io.varve.server.config.MachineMemory;
import io.varve.server.config.MemoryPlan;
import io.varve.server.config.ServerConfig;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests that every value that Redis accepts for maxmemory is accepted, at start and at run time. Confined to the test's
 * thread.
 */
class MaxMemoryValuesTest {
    @RegisterExtension
    static final ServerExtension servers = ServerExtension.withoutServer();

    private static final String OOM = "-OOM command not allowed when used memory > 'maxmemory'.\r\n";
    private static final String OK = "+OK\r\n";
    private static final int KEYS = 2_000;
    private static final String VALUE = "v".repeat(1_000);

    private static VarveServer start(String maxMemory, String policy) throws IOException {
        return servers.start("io-threads 1", "maxmemory " + maxMemory, "maxmemory-policy " + policy);
    }

    private static String bulk(String text) {
        return "$" + text.length() + "\r\n" + text + "\r\n";
    }

    @ParameterizedTest
    @ValueSource(strings = {"1", "2", "4095", "12288", "65536", "100kb", "1048575"})
    void aServerWithATinyLimitReadsAndRefusesOrWrites(String maxMemory) throws IOException {
        for (String policy : new String[] {"noeviction", "allkeys-lru", "allkeys-penalty", "volatile-ttl"}) {
            try (VarveServer server = start(maxMemory, policy); RawClient client = new RawClient(server.port())) {
                for (int i = 0; i < 200; i++) {
                    assertThat(client.command("SET", "key:" + i, VALUE)).as(policy).isIn(OK, OOM);
                    assertThat(client.command("GET", "key:" + i)).as(policy).startsWith("$");
                    assertThat(client.command("RPUSH", "list:" + i, "a", "b")).as(policy).isIn(":2\r\n", OOM);
                }
                assertThat(client.command("SET", "large", "l".repeat(1 << 20))).isEqualTo(OOM);
                assertThat(client.command("DEL", "key:1", "list:1", "absent")).startsWith(":");
                assertThat(client.command("FLUSHALL")).isEqualTo(OK);
                assertThat(client.command("CONFIG", "GET", "maxmemory"))
                        .isEqualTo("*2\r\n$9\r\nmaxmemory\r\n" + bulk(
                                ServerConfig.defaults().with("maxmemory", maxMemory).text("maxmemory")));
                if (maxMemory.equals("1")) {
                    assertThat(client.command("SET", "k", "v")).isEqualTo(OOM);
                }
                assertThat(client.command("CONFIG", "SET", "maxmemory", "100mb")).isEqualTo(OK);
                for (int i = 0; i < KEYS; i++) {
                    assertThat(client.command("SET", "key:" + i, VALUE)).isEqualTo(OK);
                }
                assertThat(client.command("DBSIZE")).isEqualTo(":" + KEYS + "\r\n");
            }
        }
    }

    @Test
    void anOddLimitHoldsData() throws IOException {
        try (VarveServer server = start("10000001", "noeviction"); RawClient client = new RawClient(server.port())) {
            for (int i = 0; i < KEYS; i++) {
                assertThat(client.command("SET", "key:" + i, VALUE)).isEqualTo(OK);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"noeviction", "allkeys-lru", "allkeys-lfu", "allkeys-random", "allkeys-hyperbolic",
            "allkeys-penalty", "volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl"})
    void aLimitOfOneByteAtRunTimeRefusesOrEvictsAndIsRaisedAgain(String policy) throws IOException {
        try (VarveServer server = start("100mb", policy); RawClient client = new RawClient(server.port())) {
            for (int i = 0; i < KEYS; i++) {
                assertThat(client.command("SET", "key:" + i, VALUE)).isEqualTo(OK);
            }
            assertThat(client.command("CONFIG", "SET", "maxmemory", "1")).isEqualTo(OK);
            assertThat(client.command("SET", "key:0", "w")).isEqualTo(OOM);
            assertThat(client.command("APPEND", "key:0", "w")).isEqualTo(OOM);
            assertThat(client.command("HSET", "hash", "f", "v")).isEqualTo(OOM);
            if (policy.startsWith("allkeys")) {
                await().atMost(30, TimeUnit.SECONDS).until(() -> client.command("DBSIZE").equals(":0\r\n"));
                assertThat(client.infoLong("used_memory")).isLessThan(KEYS * VALUE.length() / 2);
                assertThat(client.command("GET", "key:1")).isEqualTo("$-1\r\n");
            } else {
                assertThat(client.command("GET", "key:1")).isEqualTo(bulk(VALUE));
                assertThat(client.command("DBSIZE")).isEqualTo(":" + KEYS + "\r\n");
                assertThat(client.command("DEL", "key:1")).isEqualTo(":1\r\n");
                assertThat(client.command("GET", "key:1")).isEqualTo("$-1\r\n");
            }
            for (String more : new String[] {"10000001", "104857600", "0"}) {
                assertThat(client.command("CONFIG", "SET", "maxmemory", more)).isEqualTo(OK);
            }
            for (int i = 0; i < KEYS; i++) {
                assertThat(client.command("SET", "again:" + i, VALUE)).isEqualTo(OK);
            }
            assertThat(client.command("GET", "again:" + (KEYS - 1))).isEqualTo(bulk(VALUE));
        }
    }

    @Test
    void zeroIsTheDefaultAndAllThatTheMachineHasIsTaken() throws IOException {
        long total = MachineMemory.totalBytes();
        try (VarveServer server = start("64mb", "noeviction"); RawClient client = new RawClient(server.port())) {
            assertThat(client.command("CONFIG", "SET", "maxmemory", "0")).isEqualTo(OK);
            assertThat(client.infoLong("maxmemory")).isEqualTo(MemoryPlan.ofThisProcess().defaultMaxMemoryBytes());
            assertThat(client.command("CONFIG", "SET", "maxmemory", Long.toString(total))).isEqualTo(OK);
            assertThat(client.infoLong("maxmemory")).isEqualTo(total);
            assertThat(client.command("CONFIG", "SET", "maxmemory", Long.toString(total + 1)))
                    .startsWith("-ERR CONFIG SET failed")
                    .contains("maxmemory " + (total + 1), "at most", total + " bytes");
            assertThat(client.infoLong("maxmemory")).isEqualTo(total);
        }
    }
}
