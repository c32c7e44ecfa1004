package io.varve.server.replication;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;

import io.varve.server.differential.random.reply.SetReplies;
import io.varve.server.differential.stored.LogDifferentialTest;
import io.varve.server.testing.PackedLimits;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.RedisTools;
import io.varve.server.testing.ReferenceRedis;
import io.varve.server.testing.ServerExtension;
import io.varve.testing.Polling;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A real Redis that follows Varve, with random changes of all kinds: the digests of the data are equal. Confined to the
 * test's thread.
 *
 * <p>{@code -Dvarve.differential.replicas=N} sets the number of rounds, {@code -Dvarve.differential.seed=N} repeats a
 * run.
 */
@Timeout(600)
class ReplicationDifferentialTest {
    private static final int ROUNDS = TestBudget.ofInt("varve.differential.replicas", 6, 100);

    @RegisterExtension
    final ServerExtension varve = ServerExtension.with("maxmemory 256mb", "enable-debug-command yes",
            "set-max-listpack-entries " + SetReplies.LISTPACK_ENTRIES_OF_REDIS_7_0);

    private final long seed = TestBudget.seed("varve.differential.seed");
    private final SplittableRandom random = new SplittableRandom(seed);
    private RawClient primary;

    @BeforeEach
    void connect() throws IOException {
        primary = varve.connect();
    }

    private ReferenceRedis startReplica() throws IOException, InterruptedException {
        return ReferenceRedis.startWith("--enable-debug-command", "yes", "--replicaof",
                "127.0.0.1", Integer.toString(varve.port()));
    }

    private void awaitLink(RawClient replica) throws IOException {
        while (!replica.info("master_link_status").equals("up") || replica.infoLong("loading") == 1) {
            Polling.pause();
        }
    }

    /** Compares the digests at a moment between two equal ones of the primary, as maintenance may evict at any time. */
    private void assertSame(RawClient replica, String how) throws IOException {
        String before;
        String ofReplica;
        String after;
        do {
            primary.call("SET", "fence", Long.toString(random.nextLong()));
            before = primary.call("DEBUG", "DIGEST").text();
            assertThat(primary.command("WAIT", "1", "0")).isEqualTo(":1\r\n");
            ofReplica = replica.call("DEBUG", "DIGEST").text();
            after = primary.call("DEBUG", "DIGEST").text();
        } while (!before.equals(after));
        assertThat(ofReplica).as("seed " + seed + ", " + how).isEqualTo(after);
    }

    @Test
    void redisFollowsVarve() throws IOException, InterruptedException {
        for (int i = 0; i < 3; i++) {
            LogDifferentialTest.fill(random, primary, true);
        }
        try (ReferenceRedis redis = startReplica(); RawClient replica = new RawClient(redis.port())) {
            awaitLink(replica);
            assertSame(replica, "after the snapshot");
            for (int i = 0; i < ROUNDS; i++) {
                PackedLimits.vary(varve.port(), i);
                LogDifferentialTest.fill(random, primary, i < 3);
                assertSame(replica, "round " + i);
            }
            assertThat(primary.infoLong("sync_full")).isOne();
            assertThat(replica.infoLong("master_repl_offset")).isEqualTo(primary.infoLong("master_repl_offset"));
        }
    }

    @Test
    void afterACutOfTheLink_redisContinuesWithoutASnapshot() throws IOException, InterruptedException {
        try (ReferenceRedis redis = startReplica(); RawClient replica = new RawClient(redis.port())) {
            awaitLink(replica);
            for (int i = 0; i < ROUNDS; i++) {
                LogDifferentialTest.fill(random, primary, false);
                assertThat(primary.command("CLIENT", "KILL", "TYPE", "replica")).isEqualTo(":1\r\n");
                LogDifferentialTest.fill(random, primary, false);
                awaitLink(replica);
                assertSame(replica, "cut " + i);
            }
            assertThat(primary.infoLong("sync_full")).isOne();
            assertThat(primary.infoLong("sync_partial_ok")).isEqualTo(ROUNDS);
        }
    }

    @Test
    void replicaThatIsTooFarBehind_getsASnapshot() throws IOException, InterruptedException {
        assertThat(primary.command("CONFIG", "SET", "repl-backlog-size", "16384")).isEqualTo("+OK\r\n");
        try (ReferenceRedis redis = startReplica(); RawClient replica = new RawClient(redis.port())) {
            awaitLink(replica);
            assertThat(replica.command("REPLICAOF", "NO", "ONE")).isEqualTo("+OK\r\n");
            String value = "x".repeat(10_000);
            for (int i = 0; i < 100; i++) {
                primary.call("SET", "key" + i, value);
            }
            assertThat(replica.command("REPLICAOF", "127.0.0.1", Integer.toString(varve.port())))
                    .isEqualTo("+OK\r\n");
            awaitLink(replica);
            assertSame(replica, "after the second snapshot");
            assertThat(primary.infoLong("sync_full")).isEqualTo(2);
        }
    }

    /** Redis keeps a key whose time has passed until its primary says that it is gone. */
    @Test
    void expiredAndEvictedKeysDisappearFromTheReplica() throws IOException, InterruptedException {
        try (ReferenceRedis redis = startReplica(); RawClient replica = new RawClient(redis.port())) {
            awaitLink(replica);
            for (int i = 0; i < 1000; i++) {
                primary.call("SET", "key" + i, "value", "PX", Integer.toString(1 + i % 20));
            }
            while (primary.infoLong("expired_keys") < 1000) {
                Polling.pause();
            }
            assertSame(replica, "after expiry");
            assertThat(replica.command("DBSIZE")).isEqualTo(":1\r\n");
            String value = "x".repeat(1000);
            assertThat(primary.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")).isEqualTo("+OK\r\n");
            assertThat(primary.command("CONFIG", "SET", "maxmemory", "32mb")).isEqualTo("+OK\r\n");
            for (int i = 0; i < 60_000; i++) {
                primary.queue("SET", "key" + i, value);
                if (i % 1000 == 999) {
                    primary.flush();
                    for (int reply = 0; reply < 1000; reply++) {
                        assertThat(primary.reply()).isEqualTo("+OK\r\n");
                    }
                }
            }
            assertThat(primary.infoLong("evicted_keys")).isPositive();
            // Otherwise maintenance evicts ahead of need for a long time.
            assertThat(primary.command("CONFIG", "SET", "maxmemory", "256mb")).isEqualTo("+OK\r\n");
            assertSame(replica, "after eviction");
        }
    }

    @Test
    void toolsOfRedisSaveASnapshot(@TempDir Path folder) throws IOException, InterruptedException {
        RedisTools.require();
        for (int i = 0; i < 3; i++) {
            LogDifferentialTest.fill(random, primary, i == 0);
        }
        String digest = primary.call("DEBUG", "DIGEST").text();
        Path file = folder.resolve("saved.rdb");
        Process tool = new ProcessBuilder("redis-cli", "-p", Integer.toString(varve.port()), "--rdb", file.toString())
                .redirectErrorStream(true).redirectOutput(folder.resolve("output").toFile()).start();
        assertThat(tool.waitFor()).as(Files.readString(folder.resolve("output"))).isZero();
        try (ReferenceRedis redis = ReferenceRedis.startWith("--enable-debug-command", "yes", "--dir",
                folder.toString(), "--dbfilename", "saved.rdb"); RawClient loaded = new RawClient(redis.port())) {
            assertThat(loaded.call("DEBUG", "DIGEST").text()).isEqualTo(digest);
        }
    }
}
