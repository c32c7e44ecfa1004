package io.varve.server.differential;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.regex.Matcher;

import io.varve.server.MonitorTest;
import io.varve.server.differential.random.RandomCommands;
import io.varve.server.differential.random.ScriptStep;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.ReferenceRedis;
import io.varve.server.testing.ServerExtension;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/** Compares MONITOR's output for random commands with that of a real Redis. Confined to the test's thread. */
class MonitorDifferentialTest {
    @RegisterExtension
    static final ServerExtension varve = ServerExtension.withReference("maxmemory 64mb");

    private static final int SCRIPTS = 20;
    private static final int SCRIPT_COMMANDS = 400;
    /** A longer argument is cut, which Redis does not do. */
    private static final int LONGEST_SHOWN = 16 << 10;
    private static final String[] END = {"ECHO", "the end of the script"};

    @Test
    void randomCommandsAreShownAsRedisShowsThem() throws IOException, InterruptedException {
        long seed = TestBudget.seed("varve.differential.seed");
        SplittableRandom seeds = new SplittableRandom(seed);
        ReferenceRedis redis = varve.reference();
        for (int i = 0; i < SCRIPTS; i++) {
            long scriptSeed = seeds.nextLong();
            List<ScriptStep> script = new RandomCommands(scriptSeed, redis.isAtLeast(7)).script(SCRIPT_COMMANDS)
                    .stream().filter(step -> step.bytes().stream().mapToInt(bytes -> bytes.length)
                            .sum() < LONGEST_SHOWN)
                    .toList();
            assertThat(shown(varve.port(), script)).as("seed " + scriptSeed)
                    .isEqualTo(shown(redis.port(), script));
        }
    }

    /** The lines without times and addresses. */
    private static List<String> shown(int port, List<ScriptStep> script) throws IOException {
        List<String> lines = new ArrayList<>();
        try (RawClient monitor = new RawClient(port); RawClient client = new RawClient(port)) {
            client.call("FLUSHALL");
            monitor.call("MONITOR");
            for (ScriptStep step : script) {
                client.call(step.bytes());
            }
            client.call(END);
            while (true) {
                Matcher line = MonitorTest.LINE.matcher(monitor.read().text());
                assertThat(line.matches()).isTrue();
                lines.add(line.group(1) + " " + line.group(3));
                if (line.group(3).contains(END[1])) {
                    return lines;
                }
            }
        }
    }
}
