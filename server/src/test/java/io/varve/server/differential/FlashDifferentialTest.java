package io.varve.server.differential;

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
import io.varve.server.Tiers;
import io.varve.server.VarveServer;
import io.varve.server.config.ServerConfig;
import io.varve.server.differential.random.RandomCommands;
import io.varve.server.differential.random.ScriptStep;
import io.varve.server.differential.random.SetReplies;
import io.varve.server.testing.ReferenceRedis;
import io.varve.server.testing.ServerExtension;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Sends equal random commands to a real Redis and to a Varve that constantly demotes everything to flash: no reply may
 * reveal it. Confined to the test's thread, except the one that evicts items.
 */
class FlashDifferentialTest {
    @RegisterExtension
    static final ServerExtension servers = ServerExtension.withoutServer();

    private static final long COMMANDS = TestBudget.of("varve.differential.flash-commands", 20_000, 300_000);
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
        varve = servers.start(config, new Tiers(cache, tier));
        driver = Thread.ofPlatform().daemon().start(this::drive);
    }

    /**
     * Room for nearly all of memory is asked for, again and again: so what is there has to go, whether that is enough
     * or not.
     */
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
        long firstSeed = TestBudget.seed("varve.differential.seed");
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
