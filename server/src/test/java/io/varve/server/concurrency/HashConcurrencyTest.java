package io.varve.server.concurrency;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import io.varve.memory.Cache;
import io.varve.server.VarveServer;
import io.varve.server.config.ServerConfig;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Clients on several event loops increment the fields of a large hash, while others read, scan and copy it: no
 * increment is lost, and each reply is consistent. Each client is confined to its thread.
 */
class HashConcurrencyTest {
    @RegisterExtension
    static final ServerExtension servers = ServerExtension.withoutServer();

    private static final int FIELDS = 1000;
    private static final int COUNTERS = 3;
    private static final int READERS = 2;
    private static final int ROUNDS = 5_000;

    @Test
    void noCountIsLost() throws Exception {
        ServerConfig config = ServerExtension.config("maxmemory 64mb", "io-threads 4", "shards 4");
        Cache cache = Cache.open(config.cacheConfig());
        try (VarveServer server = servers.start(config, cache);
                RawClient client = new RawClient(server.port());
                ExecutorService threads = Executors.newFixedThreadPool(COUNTERS + READERS)) {
            for (int i = 0; i < FIELDS; i++) {
                client.call("HSET", "h", "f" + i, "0");
            }
            List<Future<Void>> done = new ArrayList<>();
            for (int i = 0; i < COUNTERS; i++) {
                long seed = i;
                done.add(threads.submit(() -> count(server.port(), seed)));
            }
            for (int i = 0; i < READERS; i++) {
                String own = "own" + i;
                done.add(threads.submit(() -> look(server.port(), own)));
            }
            for (Future<Void> each : done) {
                each.get();
            }
            assertThat(sum(client, "h")).isZero();
            assertThat(client.call("HGET", "h", "total").integer()).isEqualTo((long) COUNTERS * ROUNDS);
            assertThat(client.call("HLEN", "h").integer()).isEqualTo(FIELDS + 1);
            assertThat(cache.checkIntegrity()).isEmpty();
        }
    }

    /** One field is incremented by the amount by which another is decremented, in one transaction. */
    private static Void count(int port, long seed) throws IOException {
        SplittableRandom random = new SplittableRandom(seed);
        try (RawClient client = new RawClient(port)) {
            for (int i = 0; i < ROUNDS; i++) {
                client.call("MULTI");
                client.call("HINCRBY", "h", "f" + random.nextInt(FIELDS), "7");
                client.call("HINCRBY", "h", "f" + random.nextInt(FIELDS), "-7");
                client.call("HSET", "h", "new" + seed, "0");
                client.call("HINCRBY", "h", "total", "1");
                client.call("HDEL", "h", "new" + seed);
                assertThat(client.call("EXEC").elements()).hasSize(5);
            }
        }
        return null;
    }

    private static Void look(int port, String own) throws IOException {
        try (RawClient client = new RawClient(port)) {
            for (int i = 0; i < ROUNDS / 50; i++) {
                assertThat(sum(client, "h")).isZero();
                client.call("COPY", "h", own, "REPLACE");
                assertThat(sum(client, own)).isZero();
                assertThat(client.call("HRANDFIELD", "h", "50").elements()).hasSize(50);
            }
        }
        return null;
    }

    private static long sum(RawClient client, String key) throws IOException {
        List<RawReply> all = client.call("HGETALL", key).elements();
        long sum = 0;
        for (int i = 0; i < all.size(); i += 2) {
            sum += all.get(i).text().startsWith("f") ? Long.parseLong(all.get(i + 1).text()) : 0;
        }
        return sum;
    }
}
