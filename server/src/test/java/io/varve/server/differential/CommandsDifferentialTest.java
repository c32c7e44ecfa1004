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
import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ReferenceRedis;
import io.varve.server.testing.ServerExtension;
import io.varve.testing.TestBudget;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Sends equal random commands to Varve and to a real Redis: the replies must be equal, byte for byte. Collections are
 * trees from 2, 10 or 129 elements on, in turn. Confined to the test's thread, except the one that compares each
 * protocol.
 *
 * <p>{@code -Dvarve.differential.commands=N} sets the number of commands for each protocol, {@code
 * -Dvarve.differential.seed=N} repeats a run. A script that shows a difference is shrunk and printed.
 */
class CommandsDifferentialTest {
    @RegisterExtension
    static final ServerExtension servers = ServerExtension.withoutServer();

    private static final long COMMANDS = TestBudget.of("varve.differential.commands", 50_000, 1_000_000);
    /** Commands between two empty servers: few enough that a failing script shrinks quickly. */
    private static final int SCRIPT_COMMANDS = 400;

    private static VarveServer varve() throws IOException {
        return servers.start("maxmemory 256mb", "mrc-tracking yes", "penalty-tracking yes",
                "set-max-listpack-entries " + SetReplies.LISTPACK_ENTRIES_OF_REDIS_7_0);
    }

    /** Both protocols at a time, each with servers of its own: most of what it takes is waiting for replies. */
    @Test
    void randomCommandsAreAnsweredAsRedisAnswersThem() throws Exception {
        try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
            Future<?> second = threads.submit(() -> compare(2));
            Future<?> third = threads.submit(() -> compare(3));
            second.get();
            third.get();
        }
    }

    private static @Nullable Void compare(int protocol) throws IOException, InterruptedException {
        try (ReferenceRedis reference = ReferenceRedis.start(); VarveServer varve = varve()) {
            System.out.println("CommandsDifferentialTest compares with " + reference);
            compare(protocol, reference, varve);
        }
        return null;
    }

    private static void compare(int protocol, ReferenceRedis reference, VarveServer varve) throws IOException {
        long firstSeed = TestBudget.seed("varve.differential.seed");
        DifferentialRun run = new DifferentialRun(varve.port(), reference.port(), protocol);
        SplittableRandom seeds = new SplittableRandom(firstSeed);
        long seed = firstSeed;
        for (long sent = 0; sent < COMMANDS; sent += SCRIPT_COMMANDS) {
            List<ScriptStep> script = new RandomCommands(seed, reference.isAtLeast(7)).script(SCRIPT_COMMANDS);
            long limit = PackedLimits.vary(varve.port(), sent / SCRIPT_COMMANDS);
            DifferentialRun.Difference difference = run.run(script);
            if (difference != null) {
                fail(run, script, difference, "RESP" + protocol + ", packed-max-entries " + limit + ", seed " + seed);
            }
            seed = seeds.nextLong();
        }
        System.out.println("CommandsDifferentialTest RESP" + protocol + ": no difference in " + COMMANDS
                + " commands, seed " + firstSeed);
    }

    private static void fail(DifferentialRun run, List<ScriptStep> script, DifferentialRun.Difference difference,
            String how) throws IOException {
        List<ScriptStep> shrunk = run.shrink(script, difference);
        DifferentialRun.Difference again = run.run(shrunk);
        Assertions.fail(how + ", step " + difference.step() + " "
                + script.get(difference.step()) + "\n" + difference.what() + "\nshrunk to:\n"
                + shrunk.stream().map(ScriptStep::toString).collect(Collectors.joining("\n")) + "\n"
                + (again == null ? "(which does not always fail)" : again.what()));
    }

    /** Commands of Redis 7, as recorded, so that they are checked whatever the reference is. */
    @Test
    void commandsOfRedis7ReplyAsRecorded() throws IOException {
        String[][] recorded = {{"SET k v NX GET", "nil"}, {"SET k w NX GET", "v"}, {"GET k", "v"},
                {"EXPIRETIME k", "-1"}, {"PEXPIRETIME missing", "-2"}, {"EXPIRE k 1000000 XX", "0"},
                {"EXPIRE k 1000000 GT", "0"}, {"EXPIRE k 1000000 LT", "1"}, {"EXPIRE k 1000000 NX", "0"},
                {"EXPIRE k 2000000 GT", "1"},
                {"EXPIRE k 1 NX XX", "ERR NX and XX, GT or LT options at the same time are not compatible"},
                {"EXPIRE k 1 GT LT", "ERR GT and LT options at the same time are not compatible"},
                {"EXPIREAT k 99999999999", "1"}, {"EXPIRETIME k", "99999999999"},
                {"MSET a ohmytext b mynewtext", "OK"}, {"LCS a b", "mytext"}, {"LCS a b LEN", "6"},
                {"LCS a b IDX", "[matches, [[[4, 7], [5, 8]], [[2, 3], [0, 1]]], len, 6]"},
                {"LCS a b IDX MINMATCHLEN 4 WITHMATCHLEN", "[matches, [[[4, 7], [5, 8], 4]], len, 6]"}};
        try (VarveServer varve = varve(); RawClient client = new RawClient(varve.port())) {
            for (String[] one : recorded) {
                assertThat(text(client.call(one[0].split(" ", -1)))).as(one[0]).isEqualTo(one[1]);
            }
        }
    }

    private static String text(RawReply reply) {
        return reply.isAggregate()
                ? reply.elements().stream().map(CommandsDifferentialTest::text).toList().toString()
                : reply.text().equals("-1 (null)") ? "nil" : reply.text();
    }
}
