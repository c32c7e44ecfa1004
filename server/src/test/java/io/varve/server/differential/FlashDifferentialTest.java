package io.varve.server.differential;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Collectors;

import io.varve.flash.tier.FlashTierStats;
import io.varve.server.differential.random.RandomCommands;
import io.varve.server.differential.random.ScriptStep;
import io.varve.server.differential.random.reply.SetReplies;
import io.varve.server.testing.DemotingServer;
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
 * reveal it. Confined to the test's thread.
 */
class FlashDifferentialTest {
    @RegisterExtension
    static final ServerExtension servers = ServerExtension.withoutServer();

    private static final long COMMANDS = TestBudget.of("varve.differential.flash-commands", 10_000, 150_000);
    private static final int SCRIPT_COMMANDS = 400;

    @TempDir
    Path directory;

    private ReferenceRedis reference;
    private DemotingServer varve;

    @BeforeEach
    void start() throws IOException, InterruptedException {
        reference = ReferenceRedis.start();
        // Trees are never demoted, so collections stay packed.
        varve = new DemotingServer(servers, directory, "packed-max-entries 1000000", "packed-max-bytes 64mb",
                "set-max-listpack-entries " + SetReplies.LISTPACK_ENTRIES_OF_REDIS_7_0);
    }

    @AfterEach
    void stop() throws InterruptedException {
        varve.stop();
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
        FlashTierStats stats = varve.stats();
        System.out.println("FlashDifferentialTest RESP" + protocol + ": no difference in " + COMMANDS
                + " commands, seed " + firstSeed + "; " + stats.promotions() + " promotions");
        assertThat(stats.promotions()).as("came back: %s", stats).isGreaterThan(COMMANDS / 20);
        assertThat(stats.shed() + stats.invalidations()).isZero();
    }
}
