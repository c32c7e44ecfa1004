package io.varve.server.differential;

import java.io.IOException;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;

import io.varve.server.VarveServer;
import io.varve.server.differential.random.RandomCommands;
import io.varve.server.differential.random.ScriptStep;
import io.varve.server.differential.random.reply.SetReplies;
import io.varve.server.testing.PackedLimits;
import io.varve.server.testing.ReferenceRedis;
import io.varve.server.testing.ServerExtension;
import io.varve.testing.TestBudget;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Sends equal random Lua scripts to Varve and to a real Redis: the replies must be equal, byte for byte. Confined to
 * the test's thread, except the one that compares each protocol.
 *
 * <p>{@code -Dvarve.scripts.commands=N} sets the number of commands for each protocol, {@code
 * -Dvarve.scripts.seed=N} repeats a run. A sequence that shows a difference is shrunk and printed.
 */
class ScriptsDifferentialTest {
    @RegisterExtension
    static final ServerExtension servers = ServerExtension.withoutServer();

    private static final long COMMANDS = TestBudget.of("varve.scripts.commands", 20_000, 1_000_000);
    /** Commands between two empty servers: few enough that a failing script shrinks quickly. */
    private static final int SCRIPT_COMMANDS = 200;

    private static VarveServer varve() throws IOException {
        return servers.start("maxmemory 256mb", "mrc-tracking yes", "penalty-tracking yes",
                "set-max-listpack-entries " + SetReplies.LISTPACK_ENTRIES_OF_REDIS_7_0);
    }

    /** Both protocols at a time, each with servers of its own: most of what it takes is waiting for replies. */
    @Test
    void randomScripts_areAnsweredAsByRedis() throws Exception {
        try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
            Future<?> second = threads.submit(() -> compare(2));
            Future<?> third = threads.submit(() -> compare(3));
            second.get();
            third.get();
        }
    }

    private static @Nullable Void compare(int protocol) throws IOException, InterruptedException {
        try (ReferenceRedis reference = ReferenceRedis.start(); VarveServer varve = varve()) {
            System.out.println("ScriptsDifferentialTest compares with " + reference);
            compare(protocol, reference, varve);
        }
        return null;
    }

    private static void compare(int protocol, ReferenceRedis reference, VarveServer varve) throws IOException {
        long firstSeed = TestBudget.seed("varve.scripts.seed");
        DifferentialRun run = new DifferentialRun(varve.port(), reference.port(), protocol);
        SplittableRandom seeds = new SplittableRandom(firstSeed);
        long seed = firstSeed;
        for (long sent = 0; sent < COMMANDS; sent += SCRIPT_COMMANDS) {
            List<ScriptStep> script = new RandomCommands(seed, reference.isAtLeast(7)).luaScripts(SCRIPT_COMMANDS);
            long limit = PackedLimits.vary(varve.port(), sent / SCRIPT_COMMANDS);
            DifferentialRun.Difference difference = run.run(script);
            if (difference != null) {
                fail(run, script, difference, "RESP" + protocol + ", packed-max-entries " + limit + ", seed " + seed);
            }
            seed = seeds.nextLong();
        }
        System.out.println("ScriptsDifferentialTest RESP" + protocol + ": no difference in " + COMMANDS
                + " commands, seed " + firstSeed);
    }

    private static void fail(DifferentialRun run, List<ScriptStep> script, DifferentialRun.Difference difference,
            String how) throws IOException {
        List<ScriptStep> shrunk = run.shrink(script, difference);
        DifferentialRun.Difference again = run.run(shrunk);
        Assertions.fail(how + ", step " + difference.step() + " "
                + script.get(difference.step()) + "\n" + difference.what() + "\nshrunk to:\n"
                + shrunk.stream().map(ScriptStep::toString).collect(Collectors.joining("\n")) + "\n"
                + (again == null ? "(which does not always fail)" : again.what()) + "\nin full:\n"
                + String.join("\n", script.get(difference.step()).arguments()));
    }
}
