package io.varve.server.clustering;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Objects;

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

/** A flush that begins before the slots of its member are held, and would run afterwards. */
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

    @ParameterizedTest
    @ValueSource(strings = {"FLUSHALL", "FLUSHDB"})
    void itWaits_untilTheyAreReleased(String flush) throws IOException {
        ServerConfig config = ServerExtension.config("cluster-enabled yes").with("dir", folder.toString());
        Cache cache = Cache.open(config.cacheConfig());
        try (VarveServer server = VarveServer.start(config, cache);
                RawClient client = new RawClient(server.port());
                RawClient other = new RawClient(server.port())) {
            client.call("CLUSTER", "ADDSLOTSRANGE", "0", "16383");
            client.call("SET", "key", "1");
            SlotHolds holds = Objects.requireNonNull(server.cluster()).holds();
            BitSet all = new BitSet();
            all.set(0, HashSlot.COUNT);
            CacheSession session = cache.newSession();
            ShardSet shards = allShards(cache);
            session.lock(shards);
            try {
                client.queue(flush);
                client.flush();
                await().atMost(WAIT).until(FlushOfHeldSlotsTest::isFlushRunning);
                holds.hold(all);
            } finally {
                session.unlock(shards);
            }
            await().atMost(WAIT).until(() -> holds.waitingCount() == 1);
            assertThat(other.call("DBSIZE").integer()).isEqualTo(1);
            holds.release(all);
            assertThat(client.read().text()).isEqualTo("OK");
            assertThat(other.call("DBSIZE").integer()).isZero();
        }
    }
}
