package io.varve.server.command.persistence;

import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;

import io.varve.memory.Cache;
import io.varve.memory.PointInTimeScan;
import io.varve.server.VarveServer;
import io.varve.server.command.ServerState;
import io.varve.server.config.ServerConfig;
import io.varve.server.differential.random.RandomCommands;
import io.varve.server.differential.random.ScriptStep;
import io.varve.server.testing.PackedLimits;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.ServerExtension;
import io.varve.server.testing.SettableTicker;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Random commands of all families during point-in-time scans: the digest of the captured data is that of the moment at
 * which the scan began, and an assertion in the session fails if a command changes a key that was not captured. Time
 * stands still, so that nothing expires. Confined to the test's thread.
 */
@Timeout(600)
class PointInTimeCommandsTest {
    private static final int SCANS = TestBudget.ofInt("varve.snapshot.scans", 60, 1_000);
    private static final int COMMANDS = 200;

    @Test
    void scanDuringRandomCommands_hasTheDataOfItsStart() throws IOException {
        long seed = TestBudget.seed("varve.snapshot.seed");
        SplittableRandom random = new SplittableRandom(seed);
        ServerConfig config = ServerExtension.config("maxmemory 128mb", "enable-debug-command yes", "shards 4");
        SettableTicker ticker = new SettableTicker();
        Cache cache = Cache.open(config.cacheConfig().withTicker(ticker));
        try (VarveServer server = VarveServer.start(config, cache)) {
            ServerState state = new ServerState(cache, config, ticker, _ -> {});
            for (int i = 0; i < SCANS; i++) {
                PackedLimits.vary(server.port(), i);
                run(server.port(), random, COMMANDS);
                String digest = DatasetDigest.of(state);
                DatasetDigest captured = new DatasetDigest(state);
                try (PointInTimeScan scan = cache.scanAtOneMoment(captured)) {
                    run(server.port(), random, COMMANDS);
                    boolean more = true;
                    while (more && random.nextInt(500) > 0) {
                        more = scan.scan(0);
                    }
                    run(server.port(), random, COMMANDS);
                    while (more) {
                        more = scan.scan(1_000_000);
                    }
                    assertThat(scan.isAborted()).isFalse();
                    assertThat(captured.total(scan)).as("seed %s, scan %s", seed, i).isEqualTo(digest);
                }
            }
        }
    }

    private static void run(int port, SplittableRandom random, int commands) throws IOException {
        try (RawClient client = new RawClient(port)) {
            client.queue("HELLO", "3");
            for (ScriptStep step : new RandomCommands(random.nextLong(), true).script(commands)) {
                if (!isFlush(step.arguments())) {
                    client.queue(step.arguments().toArray(String[]::new));
                }
            }
            client.drain();
        }
    }

    /** A flush aborts the scan. */
    private static boolean isFlush(List<String> command) {
        return command.getFirst().toUpperCase(Locale.ROOT).startsWith("FLUSH");
    }
}
