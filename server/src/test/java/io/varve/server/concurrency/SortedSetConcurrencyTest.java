package io.varve.server.concurrency;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
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

/** Runs commands on several sorted sets concurrently, from several event loops: each is atomic. */
class SortedSetConcurrencyTest {
    @RegisterExtension
    static final ServerExtension servers = ServerExtension.withoutServer();

    private static final int CARRIERS = 4;
    private static final int WATCHERS = 2;
    private static final int MEMBERS = 300;
    private static final int ROUNDS = 4000;
    private static final String[] KEYS = {"a", "b", "c"};

    /**
     * Members are taken out of the first set that has any and put into another: none is ever in two sets, and none is
     * lost.
     */
    @Test
    void aMemberIsInOneSetAtATime() throws IOException, InterruptedException, ExecutionException {
        ServerConfig config = ServerExtension.config("io-threads 4", "shards 4", "maxmemory 64mb");
        Cache cache = Cache.open(config.cacheConfig());
        try (VarveServer server = servers.start(config, cache);
                RawClient client = new RawClient(server.port());
                ExecutorService threads = Executors.newFixedThreadPool(CARRIERS + WATCHERS)) {
            for (int i = 0; i < MEMBERS; i++) {
                client.call("ZADD", KEYS[i % 3], Integer.toString(i), "m" + i);
            }
            List<Future<Void>> done = new ArrayList<>();
            for (int i = 0; i < CARRIERS; i++) {
                int seed = i;
                done.add(threads.submit(() -> carry(server.port(), seed)));
            }
            for (int i = 0; i < WATCHERS; i++) {
                String own = "own" + i;
                done.add(threads.submit(() -> watch(server.port(), own)));
            }
            for (Future<Void> each : done) {
                each.get();
            }
            TreeSet<String> found = new TreeSet<>();
            long total = 0;
            for (String key : KEYS) {
                for (RawReply member : client.call("ZRANGE", key, "0", "-1").elements()) {
                    found.add(member.text());
                    total++;
                }
            }
            assertThat(total).isEqualTo(MEMBERS);
            assertThat(found).hasSize(MEMBERS);
            assertThat(cache.checkIntegrity()).isEmpty();
        }
    }

    private static Void carry(int port, int seed) throws IOException {
        SplittableRandom random = new SplittableRandom(seed);
        try (RawClient client = new RawClient(port)) {
            for (int i = 0; i < ROUNDS; i++) {
                String first = KEYS[random.nextInt(3)];
                String second = KEYS[random.nextInt(3)];
                RawReply popped = client.call("ZMPOP", "2", first, second, random.nextBoolean() ? "MIN" : "MAX",
                        "COUNT",
                        "2");
                if (popped.isNull()) {
                    continue;
                }
                for (RawReply pair : popped.elements().get(1).elements()) {
                    RawReply added = client.call("ZADD", KEYS[random.nextInt(3)],
                            Integer.toString(random.nextInt(1000)), pair.elements().getFirst().text());
                    assertThat(added.integer()).isOne();
                }
            }
        }
        return null;
    }

    private static Void watch(int port, String own) throws IOException {
        try (RawClient client = new RawClient(port)) {
            for (int i = 0; i < ROUNDS / 4; i++) {
                assertThat(client.call("ZINTERCARD", "2", "a", "b").integer()).isZero();
                assertThat(client.call("ZINTER", "2", "c", "b").elements()).isEmpty();
                long united = client.call("ZUNIONSTORE", own, "3", "a", "b", "c").integer();
                assertThat(united).isBetween(MEMBERS - 2L * CARRIERS, (long) MEMBERS);
                assertThat(client.call("ZCARD", own).integer()).isEqualTo(united);
                assertThat(client.call("ZRANGESTORE", own, own, "0", "9").integer()).isEqualTo(10);
            }
        }
        return null;
    }
}
