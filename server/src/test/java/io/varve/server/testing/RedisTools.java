package io.varve.server.testing;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** The installed programs of Redis, and the consequence if one is missing. Immutable. */
public final class RedisTools {
    private static final String REQUIRED = "VARVE_REQUIRE_REDIS_TOOLS";

    private RedisTools() {}

    /**
     * Leaves the test out where tools are missing, so that a machine without Redis can build; fails it where the
     * environment requires them, as the gate does, which installs them.
     */
    public static void require() {
        require(RedisTools::isOnPath, "1".equals(System.getenv(REQUIRED)));
    }

    public static void require(Predicate<String> installed, boolean required) {
        List<String> missing = Stream.of("redis-cli", "redis-benchmark").filter(installed.negate()).toList();
        String text = "not on the PATH: " + String.join(", ", missing)
                + "; install them (on Debian: apt-get install redis-tools)";
        if (required) {
            assertThat(missing).as(REQUIRED + "=1, but " + text).isEmpty();
        }
        assumeTrue(missing.isEmpty(), text);
    }

    private static boolean isOnPath(String program) {
        return Stream.of(System.getenv().getOrDefault("PATH", "").split(":", -1))
                .anyMatch(directory -> Files.isExecutable(Path.of(directory, program)));
    }
}
