package io.varve.server.concurrency;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import io.varve.memory.Cache;
import io.varve.server.VarveServer;
import io.varve.server.config.ServerConfig;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Clients on several event loops move members between sets, store intersections, and read: no member is ever lost,
 * duplicated, or seen in two places. Each client is confined to its thread.
 */
class SetConcurrencyTest {
    @RegisterExtension
    static final ServerExtension servers = ServerExtension.withoutServer();

    private static final int MEMBERS = 60;
    private static final int MOVERS = 4;
    private static final int READERS = 2;
    private static final int ROUNDS = 4_000;
    private static final String[] SETS = {"s0", "s1", "s2", "s3", "s4"};

    /** Packed, and as trees from so many members on. */
    @ParameterizedTest
    @ValueSource(strings = {"128", "4"})
    void membersThatMoveAreAlwaysInOneSet(String packedEntries) throws Exception {
        ServerConfig config = ServerExtension.config("maxmemory 64mb", "io-threads 4", "shards 8",
                "packed-max-entries " + packedEntries);
        Cache cache = Cache.open(config.cacheConfig());
        try (VarveServer server = servers.start(config, cache);
                RawClient client = new RawClient(server.port());
                ExecutorService threads = Executors.newFixedThreadPool(MOVERS + READERS)) {
            TreeSet<String> all = new TreeSet<>();
            for (int i = 0; i < MEMBERS; i++) {
                String member = i % 2 == 0 ? Integer.toString(i * 1000) : "member" + i;
                all.add(member);
                assertThat(client.call("SADD", SETS[i % SETS.length], member).text()).isEqualTo("1");
            }
            List<Callable<Integer>> tasks = new ArrayList<>();
            for (int i = 0; i < MOVERS; i++) {
                long seed = i;
                tasks.add(() -> move(server.port(), List.copyOf(all), seed));
            }
            for (int i = 0; i < READERS; i++) {
                String target = "stored" + i;
                tasks.add(() -> look(server.port(), all, target));
            }
            int moved = 0;
            for (Future<Integer> task : threads.invokeAll(tasks)) {
                moved += task.get();
            }
            assertThat(moved).isGreaterThan(ROUNDS / 10);
            TreeSet<String> found = new TreeSet<>();
            int count = 0;
            for (String set : SETS) {
                List<RawReply> members = client.call("SMEMBERS", set).elements();
                count += members.size();
                members.forEach(member -> found.add(member.text()));
            }
            assertThat(found).isEqualTo(all);
            assertThat(count).isEqualTo(MEMBERS);
            assertThat(cache.checkIntegrity()).isEmpty();
        }
    }

    private static int move(int port, List<String> members, long seed) throws IOException {
        SplittableRandom random = new SplittableRandom(seed);
        int moved = 0;
        try (RawClient client = new RawClient(port)) {
            for (int i = 0; i < ROUNDS; i++) {
                RawReply reply = client.call("SMOVE", SETS[random.nextInt(SETS.length)],
                        SETS[random.nextInt(SETS.length)], members.get(random.nextInt(MEMBERS)));
                assertThat(reply.isInteger()).as(reply.toString()).isTrue();
                moved += (int) reply.integer();
            }
        }
        return moved;
    }

    /** One command sees all sets as they are at one moment. */
    private static int look(int port, Set<String> all, String target) throws IOException {
        String[] union = with("SUNION", SETS);
        try (RawClient client = new RawClient(port)) {
            for (int i = 0; i < ROUNDS / 20; i++) {
                TreeSet<String> seen = new TreeSet<>();
                client.call(union).elements().forEach(member -> seen.add(member.text()));
                assertThat(seen).isEqualTo(all);
                assertThat(client.call(with("SUNIONSTORE " + target, SETS)).integer()).isEqualTo(MEMBERS);
                for (int j = 1; j < SETS.length; j++) {
                    assertThat(client.call("SINTERCARD", "2", SETS[j - 1], SETS[j]).integer()).isZero();
                }
            }
        }
        return 0;
    }

    private static String[] with(String first, String... keys) {
        List<String> words = new ArrayList<>(List.of(first.split(" ")));
        words.addAll(Arrays.asList(keys));
        return words.toArray(String[]::new);
    }
}
