package io.varve.experiments;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests when the launcher trains the start cache, with a fake Maven and a fake JDK: its java prints its arguments, or
 * waits for the file "train" and writes a cache. Confined to the test's thread.
 */
final class LauncherTrainingIT {
    private static final String JAVA = """
            #!/bin/sh
            for option in "$@"; do
                case $option in
                    -XX:AOTCacheOutput=*) cache=${option#*=} ;;
                esac
            done
            if [ -z "${cache:-}" ]; then
                printf '%s\\n' "$@"
                exit 0
            fi
            echo trained >>'FOLDER/trainings'
            while [ ! -e 'FOLDER/train' ]; do sleep 0.05; done
            [ ! -e 'FOLDER/fail' ] || exit 1
            echo cache >"$cache"
            """;
    private static final String MAVEN = """
            #!/bin/sh
            for module in memory-tier flash-tier cluster lua server proxy ycsb-bindings ycsb-bindings/flash experiments; do
                mkdir -p $module/target/classes
            done
            for module in server experiments; do
                printf '%s\\n' "$PWD/server/target/classes" >$module/target/runtime.classpath
            done
            """;
    private static final String AOT_CACHE = "-XX:AOTCache=";

    @TempDir
    private Path folder;
    private Path home = Path.of("");
    private Path state = Path.of("");

    @BeforeEach
    void prepare() throws IOException {
        home = Files.createDirectories(folder.resolve("new house"));
        for (String module : List.of("memory-tier", "flash-tier", "cluster", "lua", "server", "proxy", "ycsb-bindings",
                "ycsb-bindings/flash",
                "experiments")) {
            Files.createDirectories(home.resolve(module).resolve("src/main"));
            Files.writeString(home.resolve(module).resolve("pom.xml"), "");
        }
        Files.writeString(home.resolve("pom.xml"), "");
        LauncherCopy.into(home);
        home = home.toRealPath();
        state = home.resolve("target/launcher");
        program(home.resolve("mvnw"), MAVEN);
        Path bin = Files.createDirectories(folder.resolve("jdk/bin"));
        Files.writeString(folder.resolve("jdk/release"), "JAVA_VERSION=\"25\"\n");
        program(bin.resolve("java"), JAVA.replace("FOLDER", folder.toString()));
        program(bin.resolve("javac"), "#!/bin/sh\n");
        program(bin.resolve("jar"), "#!/bin/sh\n: >\"$4\"\n");
        program(bin.resolve("keytool"), "#!/bin/sh\nexit 1\n");
    }

    private static void program(Path file, String text) throws IOException {
        Files.writeString(file, text);
        assertThat(file.toFile().setExecutable(true)).isTrue();
    }

    /** Runs a verb to its end, on a machine of so much memory. @return all that it printed */
    private List<String> run(String verb, long memoryKib) throws IOException, InterruptedException {
        Path root = Files.createDirectories(folder.resolve("root"));
        Files.createDirectories(root.resolve("proc"));
        Files.writeString(root.resolve("proc/meminfo"), "MemTotal: " + memoryKib + " kB\n");
        ProcessBuilder builder = new ProcessBuilder(home.resolve("varve").toString(), verb).redirectErrorStream(true);
        builder.environment().putAll(
                Map.of("JAVA_HOME", folder.resolve("jdk").toString(), "VARVE_LIMITS_ROOT", root.toString()));
        builder.environment().remove("VARVE_NO_BUILD");
        Process process = builder.start();
        try {
            String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).as(text).isZero();
            return text.lines().toList();
        } finally {
            process.destroyForcibly();
        }
    }

    private List<String> run(String verb) throws IOException, InterruptedException {
        return run(verb, 64L << 20);
    }

    private String cacheOption() {
        return AOT_CACHE + state.resolve("server.aot");
    }

    private void allowTraining() throws IOException {
        Files.writeString(folder.resolve("train"), "");
    }

    private List<String> trainings() throws IOException {
        return Files.readAllLines(folder.resolve("trainings"));
    }

    private void assertNothingIsLeft() throws IOException {
        try (Stream<Path> files = Files.list(state)) {
            assertThat(files.map(file -> file.getFileName().toString())
                    .filter(name -> name.startsWith("server.aot.") || name.equals("training"))).isEmpty();
        }
    }

    /** The launcher's output ends, so the training run keeps none of its streams open. */
    @Test
    void firstServer_doesNotWaitForTheTrainingRun() throws IOException, InterruptedException {
        assertThat(run("serve")).contains("io.varve.server.Main").noneMatch(option -> option.startsWith(AOT_CACHE));
        assertThat(state.resolve("server.aot")).doesNotExist();
        allowTraining();
        await().atMost(30, TimeUnit.SECONDS).until(() -> !Files.exists(state.resolve("training")));
        assertNothingIsLeft();
        assertThat(run("serve")).contains("io.varve.server.Main", cacheOption());
        assertThat(trainings()).hasSize(1);
    }

    /** The next launcher neither waits nor starts another training run. */
    @Test
    @EnabledOnOs(OS.LINUX) // which has flock
    void serversDuringATrainingRun_startNoOther() throws IOException, InterruptedException {
        run("serve");
        await().atMost(30, TimeUnit.SECONDS).until(() -> Files.exists(folder.resolve("trainings")));
        assertThat(run("serve")).contains("io.varve.server.Main").noneMatch(option -> option.startsWith(AOT_CACHE));
        allowTraining();
        run("run");
        assertThat(state.resolve("server.aot")).isRegularFile();
        assertNothingIsLeft();
        assertThat(trainings()).hasSize(1);
    }

    @Test
    void experiment_waitsForTheTrainingRun() throws IOException, InterruptedException {
        allowTraining();
        assertThat(run("run")).first().asString().startsWith("varve: building");
        assertThat(state.resolve("server.aot")).isRegularFile();
        assertNothingIsLeft();
    }

    @Test
    void serverWithLittleMemory_waitsForTheTrainingRun() throws IOException, InterruptedException {
        allowTraining();
        assertThat(run("serve", 1L << 20)).contains("io.varve.server.Main", cacheOption());
        assertNothingIsLeft();
    }

    @Test
    void failedTrainingRun_isNotRepeated() throws IOException, InterruptedException {
        allowTraining();
        Files.writeString(folder.resolve("fail"), "");
        run("run");
        assertNothingIsLeft();
        assertThat(run("serve")).contains("io.varve.server.Main").noneMatch(option -> option.startsWith(AOT_CACHE));
        assertThat(trainings()).hasSize(1);
    }

    /** The file "training" is left. */
    @Test
    void killedTrainingRun_isRepeated() throws IOException, InterruptedException {
        allowTraining();
        run("run");
        Files.delete(state.resolve("server.aot"));
        Files.writeString(state.resolve("training"), "");
        run("run");
        assertThat(state.resolve("server.aot")).isRegularFile();
        assertThat(trainings()).hasSize(2);
    }
}
