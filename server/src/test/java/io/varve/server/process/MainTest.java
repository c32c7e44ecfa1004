package io.varve.server.process;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.varve.server.Main;
import io.varve.server.config.MachineMemory;
import io.varve.server.config.Settings;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.SignalWhenReady;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Tests the program's output and its exit. Confined to the test's thread. */
class MainTest {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    private int run(String... arguments) {
        return Main.run(List.of(arguments), new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8));
    }

    private void assertOneLine(String... parts) {
        String text = err.toString(StandardCharsets.UTF_8);
        assertThat(text.lines()).hasSize(1);
        assertThat(text).startsWith("varve: ").contains(parts);
        assertThat(out.toString(StandardCharsets.UTF_8)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"--port,70000,0 to 65535", "--maxmemory,lots,an amount of memory", "--appendonly,maybe,yes or no",
            "--maxmemory-policy,nosuch,allkeys-lru", "--nosuch,1,there is no such setting"})
    void aBadSettingEndsItWithTwoAndOneLine(String name, String value, String allowed) {
        assertThat(run("serve", name, value)).isEqualTo(2);
        assertOneLine(name.substring(2), value, allowed);
    }

    @Test
    void allBadSettingsAreReported_eachInItsLine_andNothingIsStarted() {
        assertThat(run("serve", "--port", "70000", "--import-mode", "yes", "--pidfile", "nowhere/pid", "--hz", "x"))
                .isEqualTo(2);
        assertThat(err.toString(StandardCharsets.UTF_8).lines()).hasSize(3)
                .allMatch(line -> line.startsWith("varve: --"));
        assertThat(out.toString(StandardCharsets.UTF_8)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"/no/such/folder/log,its directory does not exist", "/,it is a directory"})
    void aLogFileThatCannotBeWrittenEndsItWithTwo(String file, String why) {
        assertThat(run("serve", "--port", "0", "--maxmemory", "64mb", "--logfile", file)).isEqualTo(2);
        assertOneLine("logfile " + file + ": cannot be written: " + why);
    }

    @Test
    void aSocketThatCannotBeMadeEndsItWithOne() {
        assertThat(run("serve", "--port", "0", "--maxmemory", "64mb", "--io-threads", "1", "--unixsocket",
                "/no/such/folder/s")).isEqualTo(1);
        assertOneLine("unixsocket /no/such/folder/s");
    }

    @Test
    void aFlashTierWithoutEvictionIsRefused() {
        assertThat(run("serve", "--port", "0", "--flash-dir", "flash")).isEqualTo(2);
        assertOneLine("flash-dir flash: with maxmemory-policy noeviction nothing would be demoted to it",
                "allkeys-lru");
        assertThat(Files.exists(Path.of("flash"))).isFalse();
    }

    @Test
    void aFlashTierThatExceedsTheHeapIsRefused() {
        assertThat(run("serve", "--port", "0", "--flash-dir", "flash", "--maxmemory-policy", "allkeys-lru",
                "--flash-queue-size", "1000gb")).isEqualTo(2);
        assertOneLine("flash-cache-size 16777216, flash-queue-size 1073741824000", "half of the heap");
    }

    @Test
    void moreMemoryThanThereIsIsRefused() {
        long tooMuch = MachineMemory.totalBytes() + 1;
        assertThat(run("serve", "--maxmemory", Long.toString(tooMuch))).isEqualTo(2);
        assertOneLine("maxmemory " + tooMuch, "at most", Long.toString(tooMuch - 1));
    }

    @Test
    void aFileThatIsNotThereEndsItWithTwo() {
        assertThat(run("serve", "no-such-file.conf")).isEqualTo(2);
        assertOneLine("configuration file no-such-file.conf cannot be read: there is no such file");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"--port|varve: --port: needs a value: a number from 0 to 65535",
            "--hz --port 0|varve: --hz: needs a value: a number from 1 to 500",
            "--port 1 2|varve: --port 1 2: takes one value: a number from 0 to 65535",
            "--nosuch 1|varve: --nosuch 1: there is no such setting; serve --help lists them"})
    void eachProblemIsReportedOnce(String arguments, String message) {
        assertThat(run(arguments.split(" "))).isEqualTo(2);
        assertThat(err.toString(StandardCharsets.UTF_8)).isEqualToIgnoringNewLines(message);
    }

    @ParameterizedTest
    @ValueSource(strings = {"--help", "-h", "--port 1 --help", "nosuch.conf --help"})
    void helpNamesEverySettingAndItsDefault(String arguments) {
        assertThat(run(("serve " + arguments).split(" "))).isZero();
        assertThat(err.toString(StandardCharsets.UTF_8)).isEmpty();
        String text = out.toString(StandardCharsets.UTF_8);
        assertThat(text).startsWith("Usage: ./varve serve [FILE] [--NAME VALUE]...")
                .containsPattern("(?m)^\\* port +6379 +a number from 0 to 65535$")
                .containsPattern("(?m)^\\* hz +10 +a number from 1 to 500$")
                .containsPattern("(?m)^\\* appendonly +no +");
        assertThat(Settings.all().values()).allSatisfy(setting -> assertThat(text)
                .containsPattern("[ *;] " + Pattern.quote(setting.name()) + " +" + Pattern.quote(
                        setting.defaultValue().isEmpty() ? "\"\"" : setting.defaultValue())));
    }

    @Test
    void aPortThatIsTakenEndsItWithOne() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String port = Integer.toString(taken.getLocalPort());
            assertThat(run("serve", "--port", port, "--maxmemory", "64mb", "--io-threads", "1")).isEqualTo(1);
            assertOneLine(port);
        }
    }

    /** As {@code ./varve version} finds it. */
    private static String versionOfTheBuild() throws IOException {
        Matcher version = Pattern.compile("<artifactId>varve-parent</artifactId>\\s*<version>([^<]+)</version>")
                .matcher(Files.readString(Path.of("..", "pom.xml")));
        assertThat(version.find()).isTrue();
        return version.group(1);
    }

    @Test
    void portZeroIsFoundAndPrintedAndShutdownEndsItWithZero() throws Exception {
        CompletableFuture<Integer> status = new CompletableFuture<>();
        Thread.ofPlatform().daemon().start(() -> {
            try {
                status.complete(run("serve", "--port", "0", "--maxmemory", "64mb", "--io-threads", "1"));
            } catch (Throwable failed) {
                status.completeExceptionally(failed);
            }
        });
        await().atMost(20, TimeUnit.SECONDS).until(() -> out.toString(StandardCharsets.UTF_8)
                .contains("Ready to accept connections") || status.isDone());
        Matcher port = Pattern.compile(" port (\\d+)").matcher(out.toString(StandardCharsets.UTF_8));
        assertThat(port.find()).isTrue();
        assertThat(out.toString(StandardCharsets.UTF_8)).contains("64.00M")
                .startsWith("Varve " + versionOfTheBuild() + " (speaks Redis ");
        try (RawClient client = new RawClient(Integer.parseInt(port.group(1)))) {
            assertThat(client.command("INFO", "server")).contains("\r\nvarve_version:" + versionOfTheBuild() + "\r\n");
            client.send("SHUTDOWN NOSAVE\r\n");
            assertThat(client.readToEnd()).isEmpty();
        }
        assertThat(status.get(20, TimeUnit.SECONDS)).isZero();
        assertThat(err.toString(StandardCharsets.UTF_8)).isEmpty();
    }

    /** A process of its own: the signal ends it. */
    @Test
    void aSignalRightAfterReady_exitsWithZeroAndRemovesItsFiles(@TempDir Path folder) throws Exception {
        Path printed = folder.resolve("printed");
        Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--add-modules", "jdk.incubator.vector", "--enable-native-access=ALL-UNNAMED", "-cp",
                System.getProperty("java.class.path"), SignalWhenReady.class.getName(), "serve", "--port", "0",
                "--maxmemory", "64mb", "--io-threads", "1", "--pidfile", folder.resolve("pid").toString(),
                "--unixsocket", folder.resolve("socket").toString()).redirectErrorStream(true)
                .redirectOutput(printed.toFile()).start();
        try {
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            String text = Files.readString(printed);
            assertThat(text).contains("Ready to accept connections", "Shutdown requested");
            assertThat(process.exitValue()).as(text).isZero();
            assertThat(folder.resolve("pid")).doesNotExist();
            assertThat(folder.resolve("socket")).doesNotExist();
        } finally {
            process.destroyForcibly();
        }
    }
}
