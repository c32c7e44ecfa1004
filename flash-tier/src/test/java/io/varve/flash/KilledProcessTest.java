package io.varve.flash;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.stream.Stream;

import io.varve.flash.Victim.Step;
import io.varve.testing.TestBudget;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Kills a real process on real files repeatedly with SIGKILL. Confined to the test's thread. */
class KilledProcessTest {
    private static final int KILLS = TestBudget.ofInt("varve.flash.kills", 2, 20);
    private static final int MAX_STEPS = 1500;
    private static final int MAX_STEPS_SYNCED = 150;

    @TempDir
    Path directory;

    static Stream<Arguments> setups() {
        return Stream.of("je", "mv").flatMap(library -> Stream.of("back", "through")
                .flatMap(mode -> Stream.of("sync", "system").map(how -> Arguments.of(library, mode, how))));
    }

    @ParameterizedTest
    @MethodSource("setups")
    void acknowledgedWritesSurviveAndOverwrittenValuesDoNot(String library, String mode, String how)
            throws IOException, InterruptedException {
        SplittableRandom random = new SplittableRandom((library + mode + how).hashCode());
        Map<String, @Nullable String> model = new HashMap<>();
        long next = 0;
        for (int kill = 0; kill < KILLS; kill++) {
            long acknowledged = runAndKill(library, mode, how, next,
                    1 + random.nextInt(how.equals("sync") ? MAX_STEPS_SYNCED : MAX_STEPS));
            for (long i = next; i <= acknowledged; i++) {
                apply(model, Step.of(i));
            }
            Step inFlight = Step.of(acknowledged + 1);
            try (FlashCache cache = Victim.cache(library, directory, mode.equals("back"), how.equals("sync"))) {
                // Twice: what is read first is not to change when records are evicted by it.
                for (int i = 0; i < 2 * Victim.KEYS; i++) {
                    int number = i % Victim.KEYS;
                    String key = Victim.name(number);
                    String found = text(cache.read(Victim.bytes(key)));
                    if (i < Victim.KEYS && key.equals(inFlight.key()) && !Objects.equals(found, model.get(key))) {
                        apply(model, inFlight);
                    }
                    assertThat(found).as("%s after kill %s at step %s", key, kill, acknowledged)
                            .isEqualTo(model.get(key));
                }
                assertThat(cache.stats().items()).isLessThanOrEqualTo(Victim.ITEMS);
                if (mode.equals("back")) {
                    assertThat(cache.stats().hits()).as("of what flash alone has").isPositive();
                }
            }
            next = acknowledged + 2;
        }
    }

    private static void apply(Map<String, @Nullable String> model, Step step) {
        model.put(step.key(), step.deletes() ? null : step.value());
    }

    private static @Nullable String text(byte @Nullable [] bytes) {
        return bytes == null ? null : new String(bytes, StandardCharsets.US_ASCII);
    }

    /** @return the last step that was acknowledged */
    private long runAndKill(String library, String mode, String how, long first, int steps)
            throws IOException, InterruptedException {
        List<String> command = new java.util.ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        for (String flag : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
            if (flag.startsWith("--enable-native-access") || flag.startsWith("--add-modules")) {
                command.add(flag);
            }
        }
        command.addAll(List.of("-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp",
                System.getProperty("java.class.path"), Victim.class.getName(), library, directory.toString(), mode, how,
                Long.toString(first)));
        Path errors = directory.resolve("errors");
        Process process = new ProcessBuilder(command).redirectError(new File(errors.toString())).start();
        long last = first - 1;
        try (BufferedReader acknowledged = process.inputReader(StandardCharsets.US_ASCII)) {
            String line = acknowledged.readLine();
            while (line != null) {
                assertThat(Long.parseLong(line)).isEqualTo(last + 1);
                last++;
                if (last - first + 1 == steps) {
                    // Not by the process itself, which would close what it has said and we have not read yet.
                    process.toHandle().destroyForcibly();
                }
                line = acknowledged.readLine();
            }
        }
        assertThat(process.waitFor()).as("killed, and not ended: %s", Files.readString(errors)).isEqualTo(128 + 9);
        return last;
    }
}
