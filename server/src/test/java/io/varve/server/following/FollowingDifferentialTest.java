package io.varve.server.following;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

import io.varve.server.VarveServer;
import io.varve.server.config.ConfigReader;
import io.varve.server.config.ServerConfig;
import io.varve.server.differential.random.reply.SetReplies;
import io.varve.server.differential.stored.LogDifferentialTest;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.ReferenceRedis;
import io.varve.server.testing.ServerExtension;
import io.varve.testing.Polling;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Varve follows a real Redis, another Varve, and both in a chain, with random changes of all kinds: the digests of the
 * data are equal. Confined to the test's thread.
 *
 * <p>{@code -Dvarve.differential.replicas=N} sets the number of rounds, {@code -Dvarve.differential.seed=N} repeats a
 * run.
 */
@Timeout(600)
class FollowingDifferentialTest {
    private static final int ROUNDS = TestBudget.ofInt("varve.differential.replicas", 4, 100);
    private static final String[] SETTINGS = {"maxmemory 256mb", "enable-debug-command yes",
            "repl-backlog-size 64mb", "set-max-listpack-entries " + SetReplies.LISTPACK_ENTRIES_OF_REDIS_7_0};

    @RegisterExtension
    final ServerExtension varve = ServerExtension.with(SETTINGS);

    private final long seed = TestBudget.seed("varve.differential.seed");
    private final SplittableRandom random = new SplittableRandom(seed);

    private static ReferenceRedis startRedis(String... options) throws IOException, InterruptedException {
        List<String> all = new ArrayList<>(List.of("--enable-debug-command", "yes"));
        all.addAll(List.of(options));
        return ReferenceRedis.startWith(all.toArray(String[]::new));
    }

    static void follow(RawClient replica, int port) throws IOException {
        assertThat(replica.command("REPLICAOF", "127.0.0.1", Integer.toString(port))).isEqualTo("+OK\r\n");
        awaitLink(replica);
    }

    static void awaitLink(RawClient replica) throws IOException {
        while (!replica.info("master_link_status").equals("up") || replica.infoLong("loading") == 1) {
            Polling.pause();
        }
    }

    private void assertSame(RawClient primary, String how, RawClient... replicas) throws IOException {
        primary.call("SELECT", Integer.toString(random.nextInt(16)));
        primary.call("SET", "fence", Long.toString(random.nextLong()));
        for (RawClient replica : replicas) {
            while (replica.infoLong("master_repl_offset") < primary.infoLong("master_repl_offset")) {
                Polling.pause();
            }
            assertThat(replica.call("DEBUG", "DIGEST").text()).as("seed " + seed + ", " + how)
                    .isEqualTo(primary.call("DEBUG", "DIGEST").text());
            assertThat(replica.info("master_replid")).isEqualTo(primary.info("master_replid"));
        }
    }

    @Test
    void varveFollowsRedis() throws IOException, InterruptedException {
        try (ReferenceRedis redis = startRedis();
                RawClient primary = new RawClient(redis.port());
                RawClient replica = varve.connect()) {
            for (int i = 0; i < 3; i++) {
                LogDifferentialTest.fill(random, primary, true);
            }
            follow(replica, redis.port());
            assertSame(primary, "after the snapshot", replica);
            for (int i = 0; i < ROUNDS; i++) {
                LogDifferentialTest.fill(random, primary, i < 3);
                assertSame(primary, "round " + i, replica);
            }
            assertThat(primary.command("WAIT", "1", "0")).isEqualTo(":1\r\n");
            assertThat(replica.infoLong("master_refused_commands")).isZero();
            assertThat(primary.infoLong("sync_full")).isOne();
        }
    }

    @Test
    void commandsThatVarveDoesNotKnow_areCounted_andTheRestOfTheirTransactionRuns(@TempDir Path directory)
            throws IOException, InterruptedException {
        Path file = Files.write(directory.resolve("varve.conf"), List.of("port 0", SETTINGS[0], SETTINGS[1],
                "dir " + directory, "appendonly yes", "rename-command XADD \"\""));
        ServerConfig settings = ConfigReader.read(List.of(file.toString()));
        try (ReferenceRedis redis = startRedis(); RawClient primary = new RawClient(redis.port())) {
            try (VarveServer server = varve.start(settings); RawClient replica = varve.connect(server)) {
                follow(replica, redis.port());
                for (String command : List.of("MULTI", "SET a 1", "XADD stream * field value", "SET b 1", "EXEC",
                        "XADD stream * field value", "SET c 1")) {
                    primary.call(command.split(" "));
                }
                assertThat(primary.command("WAIT", "1", "0")).isEqualTo(":1\r\n");
                assertThat(replica.command("EXISTS", "a", "b", "c")).isEqualTo(":3\r\n");
                assertThat(replica.infoLong("master_refused_commands")).isEqualTo(2);
            }
            try (VarveServer again = varve.start(settings); RawClient client = varve.connect(again)) {
                assertThat(client.command("EXISTS", "a", "b", "c")).isEqualTo(":3\r\n");
            }
        }
    }

    @Test
    void varveFollowsVarve_andRedisFollowsIt() throws IOException, InterruptedException {
        try (RawClient primary = varve.connect()) {
            LogDifferentialTest.fill(random, primary, true);
            int middlePort = varve.start(SETTINGS).port();
            try (RawClient middle = new RawClient(middlePort)) {
                follow(middle, varve.port());
                try (ReferenceRedis redis = startRedis("--replicaof", "127.0.0.1", Integer.toString(middlePort));
                        RawClient last = new RawClient(redis.port())) {
                    awaitLink(last);
                    for (int i = 0; i < ROUNDS; i++) {
                        LogDifferentialTest.fill(random, primary, i < 2);
                        assertSame(primary, "round " + i, middle, last);
                        if (i % 2 == 0) {
                            primary.command("CLIENT", "KILL", "TYPE", "replica");
                        } else {
                            middle.command("CLIENT", "KILL", "TYPE", "replica");
                        }
                    }
                    assertThat(primary.infoLong("sync_full")).isOne();
                    assertThat(middle.infoLong("sync_full")).isOne();
                    assertThat(middle.infoLong("sync_partial_ok")).isPositive();
                }
            }
        }
    }
}
