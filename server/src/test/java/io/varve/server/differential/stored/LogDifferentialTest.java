package io.varve.server.differential.stored;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;

import io.varve.server.VarveServer;
import io.varve.server.differential.random.reply.SetReplies;
import io.varve.server.testing.PackedLimits;
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
 * Logs of Varve loaded by a real Redis, and vice versa, with random values of all types in several databases: the
 * digests of the data are equal. Confined to the test's thread.
 *
 * <p>{@code -Dvarve.differential.logs=N} sets the number of data sets, {@code -Dvarve.differential.seed=N} repeats a
 * run.
 */
@Timeout(900)
public class LogDifferentialTest {
    private static final int LOGS = TestBudget.ofInt("varve.differential.logs", 8, 100);

    @RegisterExtension
    final ServerExtension servers = ServerExtension.withoutServer();

    private static VarveServer varve(Path directory) throws IOException {
        return VarveServer.start(ServerExtension.config("maxmemory 256mb", "enable-debug-command yes",
                "appendonly yes", "dir " + directory,
                "set-max-listpack-entries " + SetReplies.LISTPACK_ENTRIES_OF_REDIS_7_0));
    }

    private static ReferenceRedis redis(Path directory) throws IOException, InterruptedException {
        return ReferenceRedis.startWith("--enable-debug-command", "yes", "--appendonly", "yes", "--dir",
                directory.toString());
    }

    @Test
    void logsMoveBetweenVarveAndRedis(@TempDir Path folder) throws IOException, InterruptedException {
        long seed = TestBudget.seed("varve.differential.seed");
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < LOGS; i++) {
            String how = "seed " + seed + ", data set " + i;
            Path mine = Files.createDirectory(folder.resolve("varve" + i));
            String digest;
            try (VarveServer server = varve(mine); RawClient ours = new RawClient(server.port())) {
                PackedLimits.vary(server.port(), i);
                fill(random, ours, i < 3);
                digest = digest(ours);
            }
            try (ReferenceRedis reference = redis(mine); RawClient theirs = new RawClient(reference.port())) {
                assertThat(digest(theirs)).as(how + ": Redis loaded Varve's").isEqualTo(digest);
                DumpDifferentialTest.vary(theirs, random);
                fill(random, theirs, false);
                if (random.nextBoolean()) {
                    theirs.command("BGREWRITEAOF");
                    while (theirs.infoLong("aof_rewrite_in_progress") == 1) {
                        Polling.pause();
                    }
                    fill(random, theirs, false);
                }
                digest = digest(theirs);
                // It writes its log at the end of a turn.
                theirs.command("PING");
                theirs.queue("SHUTDOWN");
                theirs.flush();
                theirs.readToEnd();
            }
            try (VarveServer server = varve(mine); RawClient ours = new RawClient(server.port())) {
                assertThat(digest(ours)).as(how + ": Varve loaded Redis's").isEqualTo(digest);
            }
            try (VarveServer server = varve(mine); RawClient ours = new RawClient(server.port())) {
                assertThat(digest(ours)).as(how + ": loaded again").isEqualTo(digest);
            }
        }
    }

    private static String digest(RawClient client) throws IOException {
        return client.call("DEBUG", "DIGEST").text();
    }

    /** Makes random changes of all kinds. */
    public static void fill(SplittableRandom random, RawClient client, boolean huge) throws IOException {
        int values = huge ? 2 : 1 + random.nextInt(60);
        for (int i = 0; i < values; i++) {
            String key = "key" + random.nextInt(100);
            client.call("SELECT", Integer.toString(Math.max(0, random.nextInt(24) - 8)));
            for (List<String> command : DumpDifferentialTest.commands(random, huge, key)) {
                client.call(command.toArray(String[]::new));
            }
            change(random, client, key);
        }
    }

    /** Changes whose record is not the command. */
    private static void change(SplittableRandom random, RawClient client, String key) throws IOException {
        switch (random.nextInt(14)) {
            case 0 -> client.call("PEXPIREAT", key, "40000000000" + random.nextInt(10, 100));
            case 1 -> client.call("EXPIRE", key, "1000000");
            case 2 -> client.call("SPOP", key, Integer.toString(random.nextInt(20)));
            case 3 -> client.call("ZPOPMIN", key, Integer.toString(random.nextInt(20)));
            case 4 -> client.call("BLPOP", key, "other", "0.01");
            case 5 -> client.call("LMOVE", key, "moved", "LEFT", "RIGHT");
            case 6 -> client.call("INCRBYFLOAT", "float", "0.1");
            case 7 -> client.call("HINCRBYFLOAT", "floats", key, "1.5");
            case 8 -> client.call("SET", "expiring" + random.nextInt(5), "value", "EX", "1000000");
            case 9 -> client.call("GETEX", "expiring" + random.nextInt(5), "PX", "2000000000");
            case 10 -> client.call("COPY", key, "copy", "DB", Integer.toString(random.nextInt(16)));
            case 11 -> {
                client.call("MULTI");
                client.call("SET", "inside", "1");
                client.call("SELECT", Integer.toString(random.nextInt(16)));
                client.call("INCR", "inside");
                client.call("EXEC");
            }
            case 12 -> client.call(random.nextInt(10) == 0 ? "FLUSHDB" : "RANDOMKEY");
            default -> client.call("SWAPDB", Integer.toString(random.nextInt(16)),
                    Integer.toString(random.nextInt(16)));
        }
    }
}
