package io.varve.experiments.launcher;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.varve.experiments.LauncherCopy;
import io.varve.testing.ProcessOutput;
import io.varve.testing.TestBudget;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Tests {@code varve cluster demo} in processes, as a user runs it. Confined to the test's thread. */
@Timeout(300)
final class ClusterDemoIT {
    private static final int PORTS = 9;
    private static final int MEMBERS = 6;
    private static final int MIN_PORT = 20_000;
    private static final int MAX_PORT = 30_000;
    private static final int END_SECONDS = 120;
    private static final String EARLY_LINE = "2. Six servers";
    private static final String LAST_LINE = "Its controllers: ";
    /** Options of the test's JVM that the processes share: when methods are compiled, and by which compiler. */
    private static final Pattern COMPILER = Pattern.compile("-XX:Tier.*");

    @TempDir
    Path folder;

    private final Set<ProcessHandle> seen = new HashSet<>();

    private static boolean areFree(int first) {
        List<ServerSocket> bound = new ArrayList<>();
        try {
            for (int i = 0; i < PORTS; i++) {
                ServerSocket socket = new ServerSocket();
                bound.add(socket);
                socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), first + i));
            }
            return true;
        } catch (IOException taken) {
            return false;
        } finally {
            for (ServerSocket socket : bound) {
                close(socket);
            }
        }
    }

    private static void close(ServerSocket socket) {
        try {
            socket.close();
        } catch (IOException failed) {
            throw new java.io.UncheckedIOException(failed);
        }
    }

    private static int freePorts() {
        while (true) {
            int first = ThreadLocalRandom.current().nextInt(MIN_PORT, MAX_PORT);
            if (areFree(first)) {
                return first;
            }
        }
    }

    private static String compilerOptions() {
        return ManagementFactory.getRuntimeMXBean().getInputArguments().stream().filter(COMPILER.asMatchPredicate())
                .collect(Collectors.joining(" "));
    }

    private Process start(int port, String... options) throws IOException {
        Path home = LauncherCopy.built(Files.createDirectories(folder.resolve("a house")));
        List<String> command = new ArrayList<>(List.of(home.resolve("varve").toString(), "cluster", "demo", "--port",
                Integer.toString(port)));
        command.addAll(List.of(options));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().put("VARVE_NO_BUILD", "1");
        builder.environment().put("VARVE_JAVA_OPTS", compilerOptions() + " -Djava.io.tmpdir="
                + Files.createDirectories(folder.resolve("temporary")));
        // A launcher that is killed may leave a pipe there.
        builder.environment().put("TMPDIR", Files.createDirectories(folder.resolve("pipes")).toString());
        return builder.start();
    }

    /** Takes the next line, and notes the processes that run then; null at the end. */
    private @Nullable String line(Process demo, ProcessOutput out) throws InterruptedException {
        String line = out.next();
        demo.descendants().forEach(seen::add);
        return line;
    }

    private void takeAll(Process demo, ProcessOutput out) throws InterruptedException {
        while (line(demo, out) != null) {
            // The lines are kept.
        }
    }

    private void assertThatNothingIsLeft(Process demo, int port) throws InterruptedException {
        assertThat(demo.waitFor(END_SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(seen).isNotEmpty();
        // A program that a shell had called may end after the shell.
        await().atMost(Duration.ofSeconds(END_SECONDS)).until(() -> seen.stream().noneMatch(ProcessHandle::isAlive));
        assertThat(areFree(port)).as("free ports from " + port).isTrue();
        assertThat(folder.resolve("temporary")).isEmptyDirectory();
    }

    /** The members of the three states that the tour shows, in their order. */
    private static List<String> members(String text) {
        return Pattern.compile("   primary (\\d+), slots \\d+ to \\d+, replica (.*)\n").matcher(text).results()
                .flatMap(state -> Stream.concat(Stream.of(state.group(1)),
                        Stream.of(state.group(2).split(", ", -1))))
                .toList();
    }

    private static List<String> ports(int first) {
        return IntStream.range(first, first + MEMBERS).mapToObj(Integer::toString).toList();
    }

    private void end(Process demo) {
        demo.destroyForcibly();
        // If the test has failed, the others may run on.
        seen.forEach(ProcessHandle::destroyForcibly);
    }

    /** The lines at which SIGTERM ends the tour; an empty one: it ends by itself. */
    static List<String> ends() {
        return TestBudget.cases(List.of(LAST_LINE), List.of("", EARLY_LINE));
    }

    @ParameterizedTest
    @MethodSource("ends")
    void theTourShowsAFailover_andLeavesNothingBehind(String end) throws IOException, InterruptedException {
        int port = freePorts();
        Process demo = end.isEmpty() ? start(port) : start(port, "--stay");
        ProcessOutput out = ProcessOutput.of(demo);
        try {
            if (!end.isEmpty()) {
                String line = line(demo, out);
                while (line != null && !line.contains(end)) {
                    line = line(demo, out);
                }
                assertThat(line).as(out.text()).isNotNull();
                // SIGTERM, which leaves the output open.
                assertThat(demo.toHandle().destroy()).isTrue();
            }
            takeAll(demo, out);
            assertThatNothingIsLeft(demo, port);
            if (end.isEmpty()) {
                assertThat(demo.exitValue()).as(out.text()).isZero();
                assertThat(out.text()).contains("All processes have ended");
            }
            if (!end.equals(EARLY_LINE)) {
                assertThat(seen).hasSizeGreaterThanOrEqualTo(PORTS + 1);
                assertThatItShowsAFailover(out.text(), port);
            }
        } finally {
            end(demo);
        }
    }

    private static void assertThatItShowsAFailover(String text, int port) {
        assertThat(text).contains("1. Three controllers, on the ports " + (port + 6) + " to " + (port + 8),
                EARLY_LINE + ", on the ports " + port + " to " + (port + 5), "3. Three of them get the slots",
                "4. A client increments", "6. It starts again");
        assertThat(text).containsPattern("[1-9]\\d* increments in a second")
                .containsPattern("\\d+ ms later its replica accepts the first write")
                .containsPattern("The client has seen \\d+ errors meanwhile");
        Matcher kill = Pattern.compile("5\\. kill -9 for the primary at port (\\d+)").matcher(text);
        assertThat(kill.find()).as(text).isTrue();
        // On a slow machine other members may change their roles, too, and the victim may change it again.
        List<String> members = members(text);
        assertThat(members).as(text).hasSize(3 * MEMBERS).contains(kill.group(1) + " (dead)");
        assertThat(members.subList(2 * MEMBERS, 3 * MEMBERS)).as(text)
                .containsExactlyInAnyOrderElementsOf(ports(port));
    }

    @Test
    void aPortThatIsTaken_isSaid_beforeAnythingStarts() throws IOException, InterruptedException {
        int port = freePorts();
        try (ServerSocket taken = new ServerSocket()) {
            taken.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port + PORTS - 1));
            Process demo = start(port);
            ProcessOutput out = ProcessOutput.of(demo);
            try {
                takeAll(demo, out);
                assertThat(out.text()).isEqualTo("varve: port " + (port + PORTS - 1)
                        + " is in use: choose the first of nine free ports with --port\n");
                assertThat(demo.waitFor(END_SECONDS, TimeUnit.SECONDS)).isTrue();
                assertThat(demo.exitValue()).isEqualTo(2);
            } finally {
                end(demo);
            }
        }
    }
}
