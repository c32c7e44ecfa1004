package io.varve.experiments;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.varve.experiments.wire.RespConnection;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the launcher's functions that need no build. Confined to the test's thread. */
final class LauncherIT {
    @TempDir
    Path folder;

    private record Answer(int status, String text) {}

    private static Answer run(Map<String, String> environment, String... arguments)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(Experiments.home().resolve("varve").toString()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().putAll(environment);
        Process process = builder.start();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        return new Answer(process.exitValue(), text);
    }

    @Test
    void helpListsTheVerbsOfThisVersionAlone() throws IOException, InterruptedException {
        Answer help = run(Map.of(), "help");
        assertThat(help.status()).isZero();
        assertThat(help.text()).contains("serve", "proxy", "check-rdb", "check-log", "controller", "cluster", "run",
                "experiments", "simulate", "mrc",
                "ycsb", "jmh", "version");
    }

    /** Class paths name files by where they are, so a copy would run the jars of the folder that it was copied from. */
    @Test
    void aCopyOfABuiltFolder_withNoBuild_isRefused() throws IOException, InterruptedException {
        Path copy = Files.createDirectories(folder.resolve("copy"));
        Path launcher = LauncherCopy.into(copy);
        Path state = Files.createDirectories(copy.resolve("target/launcher"));
        Files.writeString(state.resolve("stamp"), "/another/folder\n");
        Files.writeString(state.resolve("server.classpath"), "/another/folder/server/target/classes\n");
        Files.writeString(state.resolve("experiments.classpath"), "/another/folder/experiments/target/classes\n");
        ProcessBuilder builder = new ProcessBuilder(launcher.toString(), "serve").redirectErrorStream(true);
        builder.environment().put("VARVE_NO_BUILD", "1");
        Process process = builder.start();
        assertThat(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                .contains("it is a copy of a folder that was");
        assertThat(process.waitFor()).isOne();
    }

    @Test
    void unknownVerb_isStatus2() throws IOException, InterruptedException {
        Answer unknown = run(Map.of(), "frobnicate");
        assertThat(unknown.status()).isEqualTo(2);
        assertThat(unknown.text()).contains("'frobnicate'").contains("serve, proxy, check-rdb, check-log, run");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"ycsb|ycsb ''", "ycsb help|ycsb 'help'", "ycsb load|ycsb load: no workload",
            "ycsb run -s -threads 2|ycsb run: no workload",
            "ycsb load -P /nofile|ycsb -P /nofile: there is no such file",
            "ycsb load -P .|ycsb -P .: it is a folder", "ycsb load -P|ycsb -P: needs a value",
            "ycsb load -p workload=x -P /nofile|ycsb -P /nofile", "ycsb load -p workload=|no workload",
            "ycsb load -p workload|ycsb -p workload: expected NAME=VALUE",
            "ycsb load --help|ycsb --help: there is no such option", "ycsb load -p a=b|no workload",
            "ycsb load EMPTY|no workload"})
    void argumentsThatYcsbIgnores_areStatus2(String arguments, String message)
            throws IOException, InterruptedException {
        Path empty = Files.writeString(folder.resolve("empty.properties"), "#workload=a\nworkload=\nworkloads=b\n");
        Answer refused = run(Map.of("VARVE_NO_BUILD", "1"), arguments.replace("EMPTY", "-P " + empty).split(" "));
        assertThat(refused.text()).startsWith("varve: ").contains(message).hasLineCount(1);
        assertThat(refused.status()).isEqualTo(2);
    }

    /** The launcher continues: to YCSB, which has no such binding, or to the build that is not there. */
    @ParameterizedTest
    @ValueSource(strings = {"workload=a.B", "workload : a.B", "  workload a.B", "x=y\nworkload=a.B"})
    void aWorkloadInAFileIsFound(String text) throws IOException, InterruptedException {
        Path file = Files.writeString(folder.resolve("given.properties"), text + "\n");
        Answer goesOn = run(Map.of("VARVE_NO_BUILD", "1"), "ycsb", "load", "-P", file.toString(), "-p", "x=y", "-db",
                "no.such.Database", "-threads", "none");
        assertThat(goesOn.text()).doesNotContain("no workload");
        assertThat(goesOn.status()).isIn(1, 2);
    }

    @Test
    void theVersionIsTheBuilds() throws IOException, InterruptedException {
        Matcher version = Pattern.compile("<artifactId>varve-parent</artifactId>\\s*<version>([^<]+)</version>")
                .matcher(Files.readString(Experiments.home().resolve("pom.xml")));
        assertThat(version.find()).isTrue();
        assertThat(run(Map.of(), "version").text().lines().toList().getLast())
                .matches("varve " + Pattern.quote(version.group(1)) + " \\(([0-9a-f]{7,}|unknown)\\)");
    }

    @Test
    void jdk25IsFoundWithAnyJavaHome() throws IOException, InterruptedException {
        Answer version = run(Map.of("JAVA_HOME", "/nowhere"), "version");
        assertThat(version.status()).isZero();
        assertThat(version.text()).contains("25.");
    }

    // --- build

    /** A folder with a Maven that notes that it was called, waits for the file "go", and leaves what a build leaves. */
    private Path unbuilt() throws IOException {
        Path home = Files.createDirectories(folder.resolve("new house"));
        Files.createDirectories(home.resolve("workloads/experiments"));
        for (String module : List.of("memory-tier", "flash-tier", "cluster", "lua", "server", "proxy", "ycsb-bindings",
                "ycsb-bindings/flash",
                "experiments")) {
            Files.createDirectories(home.resolve(module).resolve("src/main"));
            Files.writeString(home.resolve(module).resolve("pom.xml"), "");
        }
        Files.writeString(home.resolve("pom.xml"), "");
        Path maven = Files.writeString(home.resolve("mvnw"),
                """
                        #!/bin/sh
                        echo called >>builds
                        while [ ! -e go ]; do sleep 0.05; done
                        for module in memory-tier flash-tier cluster lua server proxy ycsb-bindings ycsb-bindings/flash experiments; do mkdir -p $module/target/classes; done
                        printf '%%s\n' '%s' >experiments/target/runtime.classpath
                        """
                        .formatted(System.getProperty("java.class.path")));
        LauncherCopy.into(home);
        assertThat(maven.toFile().setExecutable(true)).isTrue();
        return home;
    }

    private static Process start(Path home) throws IOException {
        return new ProcessBuilder(home.resolve("varve").toString(), "experiments").redirectErrorStream(true).start();
    }

    private static void ends(Process process, BufferedReader out) throws IOException, InterruptedException {
        StringBuilder printed = new StringBuilder();
        for (String line = out.readLine(); line != null; line = out.readLine()) {
            printed.append(line).append('\n');
        }
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(printed.toString()).isZero();
    }

    @Test
    @EnabledOnOs(OS.LINUX) // which has flock
    void twoConcurrentFirstStarts_buildOnce() throws IOException, InterruptedException {
        Path home = unbuilt();
        Process first = start(home);
        try (BufferedReader firstOut = first.inputReader(StandardCharsets.UTF_8)) {
            assertThat(firstOut.readLine()).contains("varve: building");
            Process second = start(home);
            try (BufferedReader secondOut = second.inputReader(StandardCharsets.UTF_8)) {
                assertThat(secondOut.readLine()).contains("waiting for another build");
                Files.writeString(home.resolve("go"), "");
                ends(first, firstOut);
                ends(second, secondOut);
            } finally {
                second.destroyForcibly();
            }
        } finally {
            first.destroyForcibly();
        }
        assertThat(Files.readAllLines(home.resolve("builds"))).containsExactly("called");
        assertThat(Files.readString(home.resolve("target/launcher/ycsb.classpath")).strip())
                .as("ycsb has the binding of the flash tier")
                .endsWith(":" + home.toRealPath().resolve("ycsb-bindings/flash/target/classes"));
    }

    /**
     * Maven continues after the launcher that started it was killed: the next launcher waits for it, and then builds
     * again.
     */
    @Test
    @EnabledOnOs(OS.LINUX)
    void aLauncherThatWasKilledLeavesItsBuildToItself() throws IOException, InterruptedException {
        Path home = unbuilt();
        Process killed = start(home);
        try (BufferedReader out = killed.inputReader(StandardCharsets.UTF_8)) {
            assertThat(out.readLine()).contains("varve: building");
            // Until Maven itself has begun.
            while (!Files.exists(home.resolve("builds"))) {
                assertThat(killed.waitFor(10, TimeUnit.MILLISECONDS)).isFalse();
            }
            killed.destroyForcibly();
            assertThat(killed.waitFor(30, TimeUnit.SECONDS)).isTrue();
        }
        Process next = start(home);
        try (BufferedReader out = next.inputReader(StandardCharsets.UTF_8)) {
            assertThat(out.readLine()).contains("waiting for another build");
            Files.writeString(home.resolve("go"), "");
            ends(next, out);
        } finally {
            next.destroyForcibly();
        }
        assertThat(Files.readAllLines(home.resolve("builds"))).containsExactly("called", "called");
    }

    // --- checks of files

    @Test
    void checksOfFiles_haveTheirExitStatus() throws IOException, InterruptedException {
        Path home = built();
        Path good = Files.writeString(folder.resolve("good.rdb"), "REDIS0001\0\1k\1v\u00ff",
                StandardCharsets.ISO_8859_1);
        Path bad = Files.writeString(folder.resolve("bad.rdb"), "REDIS0001\0\1k");
        assertThat(checked(home, "check-rdb", good.toString())).isEqualTo(0);
        assertThat(checked(home, "check-rdb", bad.toString())).isEqualTo(1);
        assertThat(checked(home, "check-rdb")).isEqualTo(2);
        assertThat(checked(home, "check-log", folder.resolve("none").toString())).isEqualTo(2);
    }

    private static int checked(Path home, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(home.resolve("varve").toString()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().put("VARVE_NO_BUILD", "1");
        Process process = builder.start();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        assertThat(text).doesNotContain("Exception", "incubator");
        return process.exitValue();
    }

    // --- serve

    private Path built() throws IOException {
        return LauncherCopy.built(Files.createDirectories(folder.resolve("a house")));
    }

    /** Starts it on a free port, asks it something, ends it. @return all that it printed */
    private static String served(Path home) throws IOException, InterruptedException {
        return served(home, Map.of());
    }

    private static String served(Path home, Map<String, String> environment)
            throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(home.resolve("varve").toString(), "serve", "--port", "0",
                "--maxmemory", "64mb").redirectErrorStream(true);
        builder.environment().put("VARVE_NO_BUILD", "1");
        builder.environment().putAll(environment);
        Process process = builder.start();
        try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
            StringBuilder printed = new StringBuilder();
            String line = out.readLine();
            int port = 0;
            while (line != null && !line.contains("Ready to accept connections")) {
                printed.append(line).append('\n');
                Matcher listens = Pattern.compile("listens .* port (\\d+)").matcher(line);
                port = listens.find() ? Integer.parseInt(listens.group(1)) : port;
                line = out.readLine();
            }
            assertThat(line).as(printed.toString()).isNotNull();
            try (RespConnection connection = new RespConnection("127.0.0.1", port)) {
                assertThat(connection.call("PING")).isEqualTo("PONG");
            }
            process.destroy();
            assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).isZero();
            return printed.toString();
        } finally {
            process.destroyForcibly();
        }
    }

    /** Each binding refuses what it does not know, before it connects to anything. */
    @Test
    void theBindingIsTheOneThatAFileNamesElseVarves() throws IOException, InterruptedException {
        Path home = built();
        String workload = "workload=site.ycsb.workloads.CoreWorkload\nrecordcount=1\nvarve.db.dir=a;b\n";
        assertThat(loaded(home, workload)).contains("varve: unknown property varve.db.dir=a;b: expected ");
        assertThat(loaded(home, workload + "db=io.varve.ycsb.CacheAsideClient\n"))
                .contains("varve: varve.db.dir=a;b: expected a folder without");
    }

    private String loaded(Path home, String workload) throws IOException, InterruptedException {
        Path file = Files.writeString(folder.resolve("workload.properties"), workload);
        ProcessBuilder builder = new ProcessBuilder(home.resolve("varve").toString(), "ycsb", "load", "-P",
                file.toString()).redirectErrorStream(true);
        builder.environment().put("VARVE_NO_BUILD", "1");
        Process process = builder.start();
        try {
            String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
            return text;
        } finally {
            process.destroyForcibly();
        }
    }

    /** No line before the server's own, and what the JVM says where it does not start is seen. */
    @Test
    void serveListens_andTheJvmsWarningOfAnIncubatorIsLeftOut() throws IOException, InterruptedException {
        assertThat(served(built())).contains("process ").doesNotContain("WARNING", "incubator");
    }

    @Test
    void errorsOfJvmStartAreShown() throws IOException, InterruptedException {
        Path home = built();
        for (String verb : List.of("serve", "experiments")) {
            ProcessBuilder builder = new ProcessBuilder(home.resolve("varve").toString(), verb)
                    .redirectErrorStream(true);
            builder.environment().putAll(Map.of("VARVE_NO_BUILD", "1", "VARVE_JAVA_OPTS", "-XX:+NoSuchOption"));
            Process process = builder.start();
            String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
            assertThat(text).contains("Unrecognized VM option 'NoSuchOption'").doesNotContain("incubator");
            assertThat(process.exitValue()).isEqualTo(1);
        }
    }

    /**
     * The server's standard error is the launcher's own by then: nothing that it says passes through a pipe, and none
     * is left.
     */
    @Test
    @EnabledOnOs(OS.LINUX)
    void theServersStandardErrorIsTheLaunchers() throws IOException, InterruptedException {
        Path home = built();
        Path temporary = Files.createDirectories(folder.resolve("temporary"));
        Path error = folder.resolve("error");
        ProcessBuilder builder = new ProcessBuilder(home.resolve("varve").toString(), "serve", "--port", "0",
                "--maxmemory", "64mb").redirectError(error.toFile());
        builder.environment().putAll(Map.of("VARVE_NO_BUILD", "1", "TMPDIR", temporary.toString()));
        Process process = builder.start();
        try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
            String line = out.readLine();
            while (line != null && !line.contains("Ready to accept connections")) {
                line = out.readLine();
            }
            Path descriptors = Path.of("/proc", Long.toString(process.pid()), "fd");
            assertThat(descriptors.resolve("2").toRealPath()).isEqualTo(error.toRealPath());
            assertThat(temporary).isEmptyDirectory();
            process.destroy();
            assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).isZero();
        } finally {
            process.destroyForcibly();
        }
        assertThat(Files.readString(error)).contains("Shutdown requested").doesNotContain("incubator");
    }

    /**
     * The closed descriptor refers to the null device: the first socket or file that is opened does not take its place.
     */
    @ParameterizedTest
    @ValueSource(strings = {"2>&-", "<&- 2>&-"})
    @EnabledOnOs(OS.LINUX)
    void aServerWithoutStandardErrorListens(String closed) throws IOException, InterruptedException {
        Path home = built();
        Path temporary = Files.createDirectories(folder.resolve("temporary"));
        ProcessBuilder builder = new ProcessBuilder("sh", "-c", "exec \"$0\" serve --port 0 --maxmemory 64mb " + closed,
                home.resolve("varve").toString());
        builder.environment().putAll(Map.of("VARVE_NO_BUILD", "1", "TMPDIR", temporary.toString()));
        Process process = builder.start();
        try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
            String line = out.readLine();
            while (line != null && !line.contains("Ready to accept connections")) {
                line = out.readLine();
            }
            assertThat(line).as("status " + (line == null ? process.waitFor() : 0)).isNotNull();
            Path descriptors = Path.of("/proc", Long.toString(process.pid()), "fd");
            assertThat(descriptors.resolve("2").toRealPath()).isEqualTo(Path.of("/dev/null"));
            assertThat(temporary).isEmptyDirectory();
            process.destroy();
            assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).isZero();
        } finally {
            process.destroyForcibly();
        }
        assertThat(temporary).isEmptyDirectory();
    }

    @Test
    void aStartCacheThatIsNoneIsPassedOverWithoutAWord() throws IOException, InterruptedException {
        Path home = built();
        Path state = home.resolve("target/launcher");
        Files.copy(state.resolve("server.classpath"), state.resolve("start.classpath"));
        Files.writeString(state.resolve("server.aot"), "this is no cache");
        assertThat(served(home)).doesNotContain("aot", "AOT", "archive");
    }

    /** The JVM refuses to start with two caches, whichever option names the other. */
    @ParameterizedTest
    @ValueSource(strings = {"VARVE_JAVA_OPTS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"})
    void incompatibleOptionsDisableTheStartCache(String variable)
            throws IOException, InterruptedException {
        Path home = built();
        Path state = home.resolve("target/launcher");
        Files.copy(state.resolve("server.classpath"), state.resolve("start.classpath"));
        Files.writeString(state.resolve("server.aot"), "this is no cache");
        served(home, Map.of(variable, "-Xshare:off"));
    }

    @Test
    void aStartCacheOfOlderClassesIsNotUsed() throws IOException, InterruptedException {
        Path home = built();
        Path state = home.resolve("target/launcher");
        Path start = Files.writeString(state.resolve("start.classpath"), "/no/such/classes.jar\n");
        Files.writeString(state.resolve("server.aot"), "this is no cache");
        Path classes = Files.createDirectories(home.resolve("server/target/classes"));
        Files.setLastModifiedTime(start, FileTime.from(Instant.now().minusSeconds(60)));
        Files.writeString(classes.resolve("Newer.class"), "");
        served(home);
    }
}
