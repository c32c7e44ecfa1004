package io.varve.server.differential;

import java.io.IOException;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Collectors;

import io.varve.server.differential.random.RandomCommands;
import io.varve.server.differential.random.ScriptStep;
import io.varve.server.differential.random.reply.SetReplies;
import io.varve.server.testing.ServerExtension;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Sends random commands on streams to Varve and to a real Redis: the replies must be equal, byte for byte. Confined to
 * the test's thread. {@code -Dvarve.differential.seed=N} repeats a run.
 */
class StreamsDifferentialTest {
    private static final int COMMANDS = TestBudget.ofInt("varve.differential.streams", 20_000, 500_000);
    private static final int SCRIPT_COMMANDS = 400;

    @RegisterExtension
    static final ServerExtension varve = ServerExtension.withReference("maxmemory 256mb",
            "set-max-listpack-entries " + SetReplies.LISTPACK_ENTRIES_OF_REDIS_7_0);

    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void randomCommandsOnStreamsAreAnsweredAsRedisAnswersThem(int protocol) throws IOException {
        SplittableRandom seeds = new SplittableRandom(TestBudget.seed("varve.differential.seed"));
        DifferentialRun run = new DifferentialRun(varve.port(), varve.reference().port(), protocol);
        for (int sent = 0; sent < COMMANDS; sent += SCRIPT_COMMANDS) {
            long seed = seeds.nextLong();
            List<ScriptStep> script = new RandomCommands(seed, true).scriptOfStreams(SCRIPT_COMMANDS);
            DifferentialRun.Difference difference = run.run(script);
            if (difference != null) {
                List<ScriptStep> shrunk = run.shrink(script, difference);
                DifferentialRun.Difference again = run.run(shrunk);
                Assertions.fail("RESP" + protocol + ", seed " + seed + ", step " + difference.step() + " "
                        + script.get(difference.step()) + "\n" + difference.what() + "\nshrunk to:\n"
                        + shrunk.stream().map(ScriptStep::toString).collect(Collectors.joining("\n")) + "\n"
                        + (again == null ? "(which does not always fail)" : again.what()));
            }
        }
    }
}
