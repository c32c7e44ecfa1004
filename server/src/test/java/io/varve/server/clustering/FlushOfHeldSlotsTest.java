package io.varve.server.clustering;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Objects;
import java.util.function.Consumer;

import io.varve.cluster.map.HashSlot;
import io.varve.memory.Cache;
import io.varve.memory.CacheSession;
import io.varve.memory.shard.ShardSet;
import io.varve.server.VarveServer;
import io.varve.server.config.ServerConfig;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests of FLUSHALL and FLUSHDB whose member is told to hold its slots, or to serve no more, between their check and
 * their run. Confined to the test's thread.
 */
@Timeout(120)
class FlushOfHeldSlotsTest {
    private static final Duration WAIT = Duration.ofMinutes(1);

    @TempDir
    Path folder;

    private static boolean isFlushRunning() {
        return Thread.getAllStackTraces().values().stream().anyMatch(stack -> Arrays.stream(stack)
                .anyMatch(frame -> frame.getMethodName().equals("runWithoutKeys")));
    }

    private static ShardSet allShards(Cache cache) {
        ShardSet all = new ShardSet(cache.shardCount());
        for (int i = 0; i < cache.shardCount(); i++) {
            all.add(i);
        }
        return all;
    }

    /** Runs a flush that is checked before something happens to its member, and locks its shards afterwards. */
    private void flush(String flush, Consumer<ClusterState> meanwhile, Outcome outcome) throws IOException {
        ServerConfig config = ServerExtension.config("cluster-enabled yes").with("dir", folder.toString());
        Cache cache = Cache.open(config.cacheConfig());
        try (VarveServer server = VarveServer.start(config, cache);
                RawClient client = new RawClient(server.port());
                RawClient other = new RawClient(server.port())) {
            assertThat(client.call("CLUSTER", "ADDSLOTSRANGE", "0", "16383").text()).isEqualTo("OK");
            assertThat(client.call("SET", "key", "1").text()).isEqualTo("OK");
            ClusterState cluster = Objects.requireNonNull(server.cluster());
            CacheSession session = cache.newSession();
            ShardSet shards = allShards(cache);
            session.lock(shards);
            try {
                client.queue(flush);
                client.flush();
                await().atMost(WAIT).until(FlushOfHeldSlotsTest::isFlushRunning);
                meanwhile.accept(cluster);
            } finally {
                session.unlock(shards);
            }
            outcome.check(cluster, client, other);
        }
    }

    /** A check of the outcome after the locks are free. */
    @FunctionalInterface
    private interface Outcome {
        void check(ClusterState cluster, RawClient flushing, RawClient other) throws IOException;
    }

    private static BitSet allSlots() {
        BitSet all = new BitSet();
        all.set(0, HashSlot.COUNT);
        return all;
    }

    @ParameterizedTest
    @ValueSource(strings = {"FLUSHALL", "FLUSHDB"})
    void itWaits_untilTheyAreReleased(String flush) throws IOException {
        flush(flush, cluster -> cluster.holds().hold(allSlots()), (cluster, client, other) -> {
            await().atMost(WAIT).until(() -> cluster.holds().waitingCount() == 1);
            assertThat(other.call("DBSIZE").integer()).isEqualTo(1);
            cluster.holds().release(allSlots());
            assertThat(client.read().text()).isEqualTo("OK");
            assertThat(other.call("DBSIZE").integer()).isZero();
        });
    }

    /** Its successor has the data: nobody may be told that it is gone. */
    @ParameterizedTest
    @ValueSource(strings = {"FLUSHALL", "FLUSHDB"})
    void itIsRefused_ifTheLeaseHasEnded(String flush) throws IOException {
        flush(flush, cluster -> {
            Thread.ofVirtual().start(() -> cluster.lease(false));
            await().atMost(WAIT).until(() -> !cluster.view().isLeased());
        }, (_, client, other) -> {
            assertThat(client.read().text()).startsWith("CLUSTERDOWN");
            assertThat(other.call("DBSIZE").integer()).isEqualTo(1);
        });
    }
}
