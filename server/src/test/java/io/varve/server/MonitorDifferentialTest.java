package io.varve.server;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.regex.Matcher;

import io.varve.server.config.ServerConfig;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** What MONITOR shows of random commands, and what a real Redis shows of the same. Confined to the test's thread. */
class MonitorDifferentialTest {
    private static final int SCRIPTS = 20;
    private static final int SCRIPT_COMMANDS = 400;
    /** What is longer is cut, which Redis does not. */
    private static final int LONGEST_SHOWN = 16 << 10;
    private static final String[] END = {"ECHO", "the end of the script"};

    @Test
    void randomCommandsAreShownAsRedisShowsThem() throws IOException, InterruptedException {
        long seed = Long.getLong("varve.differential.seed", System.nanoTime());
        SplittableRandom seeds = new SplittableRandom(seed);
        try (ReferenceRedis redis = ReferenceRedis.start();
                VarveServer varve = VarveServer
                        .start(ServerConfig.defaults().with("port", "0").with("maxmemory", "64mb"))) {
            System.out.println("MonitorDifferentialTest compares with " + redis + ", seed " + seed);
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
