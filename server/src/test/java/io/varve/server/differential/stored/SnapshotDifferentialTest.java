package io.varve.server.differential.stored;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.SplittableRandom;

import io.varve.server.differential.random.reply.SetReplies;
import io.varve.server.testing.PackedLimits;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.ReferenceRedis;
import io.varve.server.testing.ServerExtension;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Snapshot files of Varve loaded by a real Redis, and vice versa, with random values of all types in several databases:
 * the digests of the data are equal. Confined to the test's thread.
 *
 * <p>{@code -Dvarve.differential.snapshots=N} sets the number of data sets, {@code -Dvarve.differential.seed=N} repeats
 * a run.
 */
@Timeout(600)
class SnapshotDifferentialTest {
    private static final int SNAPSHOTS = TestBudget.ofInt("varve.differential.snapshots", 12, 100);

    @RegisterExtension
    static final ServerExtension varve = ServerExtension.with("maxmemory 256mb", "enable-debug-command yes",
            "enable-protected-configs yes",
            "set-max-listpack-entries " + SetReplies.LISTPACK_ENTRIES_OF_REDIS_7_0);

    @Test
    void snapshotsMoveBetweenVarveAndRedis(@TempDir Path directory) throws IOException, InterruptedException {
        long seed = TestBudget.seed("varve.differential.seed");
        SplittableRandom random = new SplittableRandom(seed);
        try (ReferenceRedis reference = ReferenceRedis.startWith("--enable-debug-command", "yes");
                RawClient redis = new RawClient(reference.port());
                RawClient ours = new RawClient(varve.port())) {
            Path theirs = Path.of(value(redis, "dir"), value(redis, "dbfilename"));
            Path mine = directory.resolve("dump.rdb");
            assertThat(ours.command("CONFIG", "SET", "dir", directory.toString())).isEqualTo("+OK\r\n");
            for (int i = 0; i < SNAPSHOTS; i++) {
                String how = "seed " + seed + ", data set " + i;
                DumpDifferentialTest.vary(redis, random);
                PackedLimits.vary(varve.port(), i);
                assertThat(ours.command("CONFIG", "SET", "rdbcompression", random.nextBoolean() ? "yes" : "no"))
                        .isEqualTo("+OK\r\n");
                redis.call("FLUSHALL");
                ours.call("FLUSHALL");
                fill(random, i < 4, redis, ours);
                String digest = ours.call("DEBUG", "DIGEST").text();
                assertThat(digest).as(how).isEqualTo(redis.call("DEBUG", "DIGEST").text());

                assertThat(ours.command("SAVE")).as(how).isEqualTo("+OK\r\n");
                Files.copy(mine, theirs, StandardCopyOption.REPLACE_EXISTING);
                assertThat(redis.command("DEBUG", "RELOAD", "NOSAVE")).as(how).isEqualTo("+OK\r\n");
                assertThat(redis.call("DEBUG", "DIGEST").text()).as(how + ": Redis loaded Varve's").isEqualTo(digest);

                assertThat(redis.command("SAVE")).isEqualTo("+OK\r\n");
                Files.copy(theirs, mine, StandardCopyOption.REPLACE_EXISTING);
                assertThat(ours.command("DEBUG", "RELOAD", "NOSAVE")).as(how).isEqualTo("+OK\r\n");
                assertThat(ours.call("DEBUG", "DIGEST").text()).as(how + ": Varve loaded Redis's").isEqualTo(digest);
                assertThat(ours.command("DEBUG", "RELOAD")).as(how).isEqualTo("+OK\r\n");
                assertThat(ours.call("DEBUG", "DIGEST").text()).as(how + ": reloaded").isEqualTo(digest);
            }
        }
    }

    private static String value(RawClient client, String setting) throws IOException {
        return client.call("CONFIG", "GET", setting).elements().get(1).text();
    }

    private static void fill(SplittableRandom random, boolean huge, RawClient redis, RawClient ours)
            throws IOException {
        int values = huge ? 2 : 1 + random.nextInt(60);
        for (int i = 0; i < values; i++) {
            String database = Integer.toString(Math.max(0, random.nextInt(24) - 8));
            String key = "key" + i;
            both(redis, ours, "SELECT", database);
            for (List<String> command : DumpDifferentialTest.commands(random, huge, key)) {
                both(redis, ours, command.toArray(String[]::new));
            }
            if (random.nextInt(3) == 0) {
                both(redis, ours, "PEXPIREAT", key, "40000000000" + random.nextInt(10, 100));
            }
            if (random.nextInt(3) == 0) {
                // Redis skips what the snapshot says about it.
                ours.call("VARVE.PIN", key);
            }
            both(redis, ours, "DEBUG", "DIGEST-VALUE", key, "missing");
        }
    }

    private static void both(RawClient redis, RawClient ours, String... words) throws IOException {
        assertThat(ours.call(words)).isEqualTo(redis.call(words));
    }
}
