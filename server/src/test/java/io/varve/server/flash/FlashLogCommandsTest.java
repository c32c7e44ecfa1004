package io.varve.server.flash;

import java.io.IOException;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.varve.flash.je.JeSettings;
import io.varve.flash.je.JeStore;
import io.varve.flash.tier.FlashTier;
import io.varve.flash.tier.TierFiles;
import io.varve.memory.Cache;
import io.varve.memory.item.Ticker;
import io.varve.server.Tiers;
import io.varve.server.VarveServer;
import io.varve.server.config.ServerConfig;
import io.varve.server.differential.random.RandomCommands;
import io.varve.server.differential.random.ScriptStep;
import io.varve.server.persistence.ReplayClock;
import io.varve.server.recovery.Recovery;
import io.varve.server.testing.PackedLimits;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerExtension;
import io.varve.server.testing.SettableTicker;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Servers with a log over flash that start and end: random commands of all families, while all items are demoted again
 * and again and the log is rewritten, and the data of before after each restart. Items that flash does not take are
 * evicted, which is in the log too. Confined to the test's thread, except the thread that demotes.
 *
 * <p>{@code -Dvarve.log.restarts=N} sets the number of restarts, {@code -Dvarve.log.seed=N} repeats the commands.
 */
@Timeout(600)
class FlashLogCommandsTest {
    private static final int RESTARTS = TestBudget.ofInt("varve.log.restarts", 15, 400);
    private static final int COMMANDS = 150;
    private static final String MARK = "the end of a script";
    private static final long MEMORY_BYTES = 8L << 20;
    /** The part of memory that the cache reserves for itself, and a little more. */
    private static final long KEPT_BYTES = 128 << 10;
    private static final long PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(500);

    @RegisterExtension
    final ServerExtension servers = ServerExtension.withoutServer();

    @TempDir
    Path directory;

    /** A server, and a thread that demotes until {@link #rest}. */
    private static final class Demoting implements AutoCloseable {
        private final Tiers tiers;
        private final VarveServer server;
        private final Thread demoter;
        private volatile boolean isStopping;

        Demoting(ServerConfig config, Path directory, Ticker ticker) throws IOException {
            int databases = config.cacheConfig().databases();
            TierFiles files = Recovery.loadsFile(config)
                    ? TierFiles.openEmpty(directory, at -> JeStore.open(at, JeSettings.of(8 << 20)), databases, false,
                            ticker.wallMillis())
                    : TierFiles.open(directory, at -> JeStore.open(at, JeSettings.of(8 << 20)), databases, false,
                            ticker.wallMillis());
            Cache cache = Cache.open(config.cacheConfig().withHashSeed(files.hashSeed())
                    .withTicker(new ReplayClock(ticker)));
            tiers = new Tiers(cache, FlashTier.start(files, cache, config.flashSettings()));
            server = VarveServer.start(config, tiers);
            demoter = Thread.ofPlatform().daemon().unstarted(this::demote);
        }

        private void demote() {
            while (!isStopping) {
                boolean done = tiers.cache().admit(MEMORY_BYTES - KEPT_BYTES);
                LockSupport.parkNanos(this, done ? PAUSE_NANOS : 2 * PAUSE_NANOS);
            }
        }

        void rest() throws InterruptedException {
            isStopping = true;
            demoter.join();
        }

        @Override
        public void close() {
            isStopping = true;
            server.close();
        }
    }

    private Demoting start(Ticker ticker, String... settings) throws IOException {
        String[] all = new String[settings.length + 8];
        System.arraycopy(settings, 0, all, 8, settings.length);
        all[0] = "maxmemory " + MEMORY_BYTES;
        all[1] = "dir " + directory;
        all[2] = "enable-debug-command yes";
        all[3] = "appendonly yes";
        all[4] = "shards 4";
        all[5] = "maxmemory-policy allkeys-random";
        all[6] = "segment-size 16kb";
        all[7] = "segment-heads 2";
        return new Demoting(ServerExtension.config(all), directory.resolve("flash"), ticker);
    }

    private static String digest(RawClient client) throws IOException {
        // A rewrite excludes the scan of the digest.
        RawReply digest = client.call("DEBUG", "DIGEST");
        while (digest.isError()) {
            digest = client.call("DEBUG", "DIGEST");
        }
        return digest.text();
    }

    @Test
    void dataOfRandomCommands_isThereAfterEachRestart() throws IOException, InterruptedException {
        long seed = TestBudget.seed("varve.log.seed");
        SplittableRandom random = new SplittableRandom(seed);
        SettableTicker ticker = new SettableTicker();
        String digest = "0000000000000000000000000000000000000000";
        long promotions = 0;
        for (int i = 0; i < RESTARTS; i++) {
            String how = "seed " + seed + ", restart " + i;
            try (Demoting demoting = start(ticker, "appendfsync everysec");
                    RawClient client = new RawClient(demoting.server.port())) {
                assertThat(digest(client)).as(how).isEqualTo(digest);
                demoting.demoter.start();
                PackedLimits.vary(demoting.server.port(), i);
                for (int j = random.nextInt(6); j >= 0; j--) {
                    run(client, random);
                    ticker.pass(random.nextInt(2_000));
                    if (random.nextInt(4) == 0) {
                        client.command("BGREWRITEAOF");
                    }
                }
                demoting.rest();
                promotions += client.infoLong("flash_promotions");
                digest = digest(client);
            }
        }
        assertThat(promotions).isGreaterThan(20L * RESTARTS);
    }

    private static void run(RawClient client, SplittableRandom random) throws IOException {
        client.queue("HELLO", "3");
        for (ScriptStep step : new RandomCommands(random.nextLong(), true).script(COMMANDS)) {
            client.queue(step.arguments().toArray(String[]::new));
        }
        client.queue("DISCARD");
        client.queue("RESET");
        client.queue("ECHO", MARK);
        client.flush();
        RawReply reply;
        do {
            reply = client.read();
            assertThat(reply.isError() && reply.text().contains("internal error")).as(reply.text()).isFalse();
        } while (!reply.text().equals(MARK));
    }
}
