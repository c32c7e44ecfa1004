package io.varve.server;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

import io.varve.flash.je.JeSettings;
import io.varve.flash.je.JeStore;
import io.varve.flash.tier.FlashTier;
import io.varve.flash.tier.FlashTierStats;
import io.varve.flash.tier.TierFiles;
import io.varve.memory.Cache;
import io.varve.server.config.ServerConfig;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The same random commands to a real Redis and to a Varve out of whose memory everything falls to flash all the time: no command
 * may show it. Confined to the test's thread, but for the one that drives items out.
 */
class FlashDifferentialTest {
    private static final long COMMANDS = Long.getLong("varve.differential.flash-commands", 40_000);
    private static final int SCRIPT_COMMANDS = 400;
    private static final long MEMORY_BYTES = 8L << 20;
    /** What the cache keeps for itself, and a little more. */
    private static final long KEPT_BYTES = 128 << 10;
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    @TempDir
    Path directory;

    private ReferenceRedis reference;
    private VarveServer varve;
    private Cache cache;
    private FlashTier tier;
    private Thread driver;
    private volatile boolean stop;

    @BeforeEach
    void start() throws IOException, InterruptedException {
        reference = ReferenceRedis.start();
        ServerConfig config = ServerConfig.defaults().with("port", "0").with("maxmemory", Long.toString(MEMORY_BYTES))
                .with("shards", "4").with("segment-size", "16kb").with("segment-heads", "2")
                .with("maxmemory-policy", "allkeys-random").with("flash-queue-size", "64mb")
                // A tree does not fall to flash.
                .with("packed-max-entries", "1000000").with("packed-max-bytes", "64mb")
                .with("set-max-listpack-entries", SetReplies.LISTPACK_ENTRIES_OF_REDIS_7_0).validate();
        TierFiles files = TierFiles.open(directory, at -> JeStore.open(at, JeSettings.of(8 << 20)),
                config.cacheConfig().databases(), false, 1_700_000_000_000L);
        cache = Cache.open(config.cacheConfig().withHashSeed(files.hashSeed()));
        tier = FlashTier.start(files, cache, config.flashSettings());
        varve = VarveServer.start(config, new Tiers(cache, tier));
        driver = Thread.ofPlatform().daemon().start(this::drive);
    }

    /** Room for nearly all of memory is asked for, again and again: so what is there has to go, whether that is enough or not. */
    private void drive() {
        while (!stop) {
            LockSupport.parkNanos(this, cache.admit(MEMORY_BYTES - KEPT_BYTES) ? PAUSE_NANOS : 2 * PAUSE_NANOS);
        }
    }

    @AfterEach
    void stop() throws InterruptedException {
        stop = true;
        driver.join();
        varve.close();
        reference.close();
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void noCommandShowsWhichTierAKeyIsIn(int protocol) throws IOException {
        long firstSeed = Long.getLong("varve.differential.seed", System.nanoTime());
        DifferentialRun run = new DifferentialRun(varve.port(), reference.port(), protocol);
        SplittableRandom seeds = new SplittableRandom(firstSeed);
        long seed = firstSeed;
        for (long sent = 0; sent < COMMANDS; sent += SCRIPT_COMMANDS) {
            List<ScriptStep> script = new RandomCommands(seed, reference.isAtLeast(7), true).script(SCRIPT_COMMANDS);
            DifferentialRun.Difference difference = run.run(script);
            if (difference != null) {
                Assertions.fail("RESP" + protocol + ", seed " + seed + ", step " + difference.step() + " "
                        + script.get(difference.step()) + "\n" + difference.what() + "\nbehind:\n"
                        + script.subList(0, difference.step()).stream().map(ScriptStep::toString)
                                .collect(Collectors.joining("\n")));
            }
            seed = seeds.nextLong();
        }
        FlashTierStats stats = tier.stats();
        System.out.println("FlashDifferentialTest RESP" + protocol + ": no difference in " + COMMANDS
                + " commands, seed " + firstSeed + "; " + stats.promotions() + " promotions");
        assertThat(stats.promotions()).as("came back: %s", stats).isGreaterThan(COMMANDS / 20);
        assertThat(stats.shed() + stats.givenUp()).isZero();
    }
}
