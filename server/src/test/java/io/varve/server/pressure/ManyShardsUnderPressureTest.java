package io.varve.server.pressure;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

import io.varve.server.VarveServer;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Writes to many keys in a full cache whose reserve has far fewer segments than there are shards. Confined to the
 * test's thread.
 */
@Timeout(120)
class ManyShardsUnderPressureTest {
    @RegisterExtension
    static final ServerExtension servers = ServerExtension.withoutServer();

    private static final String VALUE = "v".repeat(900);
    private static final long MAX_MEMORY = 32 << 20;
    private static final int FILLERS = 40_000;
    private static final int KEYS = 128;
    private static final int ROUNDS = 100;

    private static VarveServer start(String policy) throws IOException {
        return servers.start("io-threads 1", "shards 256", "maxmemory " + MAX_MEMORY, "maxmemory-policy " + policy);
    }

    /** Writes more than fits, 128 commands at a time. @return the number of refused writes */
    private static int fill(RawClient client, String prefix, int count) throws IOException {
        int refused = 0;
        for (int i = 0; i < count; i += KEYS) {
            for (int j = i; j < i + KEYS; j++) {
                client.queue("SET", prefix + j, VALUE);
            }
            client.flush();
            for (int j = i; j < i + KEYS; j++) {
                refused += client.read().isError() ? 1 : 0;
            }
        }
        return refused;
    }

    private static String[] setAll(String prefix) {
        List<String> words = new ArrayList<>(List.of("MSET"));
        for (int i = 0; i < KEYS; i++) {
            words.add(prefix + i);
            words.add(VALUE);
        }
        return words.toArray(String[]::new);
    }

    private static long present(RawClient client, String prefix) throws IOException {
        List<String> words = new ArrayList<>(List.of("EXISTS"));
        for (int i = 0; i < KEYS; i++) {
            words.add(prefix + i);
        }
        return client.call(words.toArray(String[]::new)).integer();
    }

    @Test
    void anEvictingCacheRefusesNoWrite() throws IOException {
        try (VarveServer server = start("allkeys-lru"); RawClient client = new RawClient(server.port())) {
            assertThat(fill(client, "filler", FILLERS)).as("refused in batches").isZero();
            assertThat(client.infoLong("evicted_keys")).isPositive();
            for (int round = 0; round < ROUNDS; round++) {
                assertThat(client.call(setAll("name" + round + "-")).text()).as("MSET %s", round).isEqualTo("OK");
                client.call("MULTI");
                for (int i = 0; i < KEYS; i++) {
                    client.call("SET", "queued" + round + "-" + i, VALUE);
                }
                List<RawReply> replies = client.call("EXEC").elements();
                assertThat(replies).as("EXEC %s", round).hasSize(KEYS).noneMatch(RawReply::isError);
                String member = "member" + round;
                client.call("SADD", "first" + round, member, VALUE);
                client.call("SADD", "second" + round, member, "another");
                assertThat(client.call("SINTERSTORE", "result" + round, "first" + round, "second" + round).integer())
                        .as("SINTERSTORE %s", round).isOne();
            }
            assertThat(client.infoLong("used_memory")).isLessThanOrEqualTo(MAX_MEMORY + (1 << 20));
        }
    }

    @Test
    void aFullCacheThatEvictsNothingSetsAllKeysOrNone() throws IOException {
        try (VarveServer server = start("noeviction"); RawClient client = new RawClient(server.port())) {
            assertThat(fill(client, "filler", FILLERS)).as("refused in batches").isPositive();
            int set = 0;
            for (int round = 0; round < ROUNDS; round++) {
                // Makes space for about as much as the command needs.
                for (int i = 0; i < KEYS; i++) {
                    client.queue("DEL", "filler" + (round * KEYS + i));
                }
                client.flush();
                for (int i = 0; i < KEYS; i++) {
                    client.read();
                }
                boolean refused = client.call(setAll("name" + round + "-")).isError();
                set += refused ? 0 : 1;
                assertThat(present(client, "name" + round + "-")).as("MSET %s, refused: %s", round, refused)
                        .isEqualTo(refused ? 0 : KEYS);
            }
            assertThat(set).as("commands that were not refused").isPositive();
        }
    }
}
