package io.varve.experiments.launcher;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.varve.experiments.LauncherCopy;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** Runs {@code varve cluster demo} as a user does. Confined to the test's thread. */
@Timeout(300)
final class ClusterDemoIT {
    private static final int PORTS = 9;
    private static final int MEMBERS = 6;
    private static final int MIN_PORT = 20_000;
    private static final int MAX_PORT = 30_000;
    private static final int END_SECONDS = 120;

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

    private Process start(int port, String... options) throws IOException {
        Path home = LauncherCopy.built(Files.createDirectories(folder.resolve("a house")));
        List<String> command = new ArrayList<>(List.of(home.resolve("varve").toString(), "cluster", "demo", "--port",
                Integer.toString(port)));
        command.addAll(List.of(options));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().put("VARVE_NO_BUILD", "1");
        builder.environment().put("VARVE_JAVA_OPTS",
                "-Djava.io.tmpdir=" + Files.createDirectories(folder.resolve("temporary")));
        return builder.start();
    }

    /** Reads a line, and notes the processes that run then; null at the end. */
    private @Nullable String line(Process demo, BufferedReader out) throws IOException {
        String line = out.readLine();
        demo.descendants().forEach(seen::add);
        return line;
    }

    private void assertThatNothingIsLeft(Process demo, int port) throws IOException, InterruptedException {
        assertThat(demo.waitFor(END_SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(seen).isNotEmpty().noneMatch(ProcessHandle::isAlive);
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

    @Test
    void theTourShowsAFailover_andLeavesNothingBehind() throws IOException, InterruptedException {
        int port = freePorts();
        Process demo = start(port);
        StringBuilder printed = new StringBuilder();
        try (BufferedReader out = demo.inputReader(StandardCharsets.UTF_8)) {
            for (String line = line(demo, out); line != null; line = line(demo, out)) {
                printed.append(line).append('\n');
            }
            String text = printed.toString();
            assertThatNothingIsLeft(demo, port);
            assertThat(demo.exitValue()).as(text).isZero();
            assertThat(seen).hasSizeGreaterThanOrEqualTo(PORTS + 1);
            assertThat(text).contains("1. Three controllers, on the ports " + (port + 6) + " to " + (port + 8),
                    "2. Six servers, on the ports " + port + " to " + (port + 5), "3. Three of them get the slots",
                    "4. A client increments", "6. It starts again", "All processes have ended");
            assertThat(text).containsPattern("[1-9]\\d* increments in a second")
                    .containsPattern("\\d+ ms later its replica accepts the first write")
                    .containsPattern("The client has seen \\d+ errors meanwhile");
            Matcher kill = Pattern.compile("5\\. kill -9 for the primary at port (\\d+)").matcher(text);
            assertThat(kill.find()).as(text).isTrue();
            String victim = kill.group(1);
            // On a slow machine other members may change their roles, too.
            List<String> members = members(text);
            assertThat(members).as(text).hasSize(3 * MEMBERS).contains(victim + " (dead)");
            assertThat(members.subList(2 * MEMBERS, 3 * MEMBERS)).as(text)
                    .containsExactlyInAnyOrderElementsOf(ports(port));
            assertThat(text.substring(text.indexOf("6. It starts"))).containsPattern("replica " + victim + "\\n");
        } finally {
            end(demo);
        }
    }

    @Test
    void aTourThatIsEnded_leavesNothingBehind() throws IOException, InterruptedException {
        int port = freePorts();
        Process demo = start(port, "--stay");
        try (BufferedReader out = demo.inputReader(StandardCharsets.UTF_8)) {
            String line = line(demo, out);
            while (line != null && !line.startsWith("3.")) {
                line = line(demo, out);
            }
            assertThat(line).isNotNull();
            // SIGTERM, which leaves the output open.
            assertThat(demo.toHandle().destroy()).isTrue();
            while (line != null) {
                line = line(demo, out);
            }
            assertThatNothingIsLeft(demo, port);
        } finally {
            end(demo);
        }
    }

    @Test
    void aPortThatIsTaken_isSaid_beforeAnythingStarts() throws IOException, InterruptedException {
        int port = freePorts();
        try (ServerSocket taken = new ServerSocket()) {
            taken.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port + PORTS - 1));
            Process demo = start(port);
            try (BufferedReader out = demo.inputReader(StandardCharsets.UTF_8)) {
                assertThat(out.lines()).containsExactly("varve: port " + (port + PORTS - 1)
                        + " is in use: choose the first of nine free ports with --port");
                assertThat(demo.waitFor(END_SECONDS, TimeUnit.SECONDS)).isTrue();
                assertThat(demo.exitValue()).isEqualTo(2);
            } finally {
                end(demo);
            }
        }
    }
}
