package io.varve.server.process;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.varve.server.testing.RawClient;
import io.varve.server.testing.ServerProcess;
import io.varve.testing.Polling;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the replies that clients get while a server loads its data at the start. Confined to the test's thread. */
@Timeout(300)
class LoadIT {
    private static final int KEYS = 300_000;
    private static final int MEMBERS = 1_000_000;
    private static final int MEMBERS_OF_A_COMMAND = 1_000;
    private static final int END_SECONDS = 30;

    /** The files of a server with all keys. Each test has a copy. */
    @TempDir
    static Path filled;

    @TempDir
    Path directory;

    @BeforeAll
    static void fillTheLog() throws IOException, InterruptedException {
        try (ServerProcess server = ServerProcess.start(settings(filled));
                RawClient client = new RawClient(server.port())) {
            client.setKeys("key", KEYS, "value");
            client.send(RawClient.encode("SHUTDOWN", "NOSAVE")).readToEnd();
            assertThat(server.awaitEnd(END_SECONDS)).isZero();
        }
    }

    @BeforeEach
    void copyTheLog() throws IOException {
        try (Stream<Path> files = Files.walk(filled)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Path copy = directory.resolve(filled.relativize(file));
                Files.createDirectories(copy.getParent());
                Files.copy(file, copy);
            }
        }
    }

    private String[] settings(String... more) {
        return settings(directory, more);
    }

    private static String[] settings(Path directory, String... more) {
        List<String> all = new ArrayList<>(List.of("--dir", directory.toString(), "--appendonly", "yes", "--maxmemory",
                "256mb"));
        all.addAll(List.of(more));
        return all.toArray(String[]::new);
    }

    /** A server that loads, on a port that was free. */
    private final class Loading implements AutoCloseable {
        final int port;
        final Process process;

        Loading() throws IOException {
            try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                port = free.getLocalPort();
            }
            process = new ProcessBuilder(
                    ServerProcess.command(List.of(settings("--port", Integer.toString(port), "--save", "3600 1"))))
                    .redirectErrorStream(true).redirectOutput(directory.resolve("output").toFile()).start();
        }

        /** A client, as soon as the server listens. */
        RawClient connect() throws IOException {
            while (true) {
                try {
                    return new RawClient(port);
                } catch (IOException refused) {
                    assertThat(process.isAlive()).as("the server runs: %s", refused).isTrue();
                    Polling.pause();
                }
            }
        }

        @Override
        public void close() {
            process.destroyForcibly().onExit().join();
        }
    }

    @Test
    void clientsAreRefused_untilAllDataIsThere() throws Exception {
        try (Loading server = new Loading(); RawClient client = server.connect()) {
            int refused = 0;
            double percentage = 0;
            String reply = client.command("PING");
            while (!reply.equals("+PONG\r\n")) {
                refused++;
                assertThat(reply).isEqualTo("-LOADING Redis is loading the dataset in memory\r\n");
                assertThat(client.command("DBSIZE")).matches("(?s)-LOADING .*|:" + KEYS + "\r\n");
                assertThat(client.command("CONFIG", "GET", "maxmemory")).startsWith("*2");
                String info = client.call("INFO", "persistence").text();
                if (info.contains("loading:1")) {
                    double next = Double.parseDouble(info.replaceAll("(?s).*loading_loaded_perc:([0-9.]+).*", "$1"));
                    assertThat(next).isBetween(percentage, 100.0);
                    percentage = next;
                }
                reply = client.command("PING");
            }
            assertThat(refused).as("refused commands").isPositive();
            assertThat(percentage).as("progress").isPositive();
            assertThat(client.call("DBSIZE").integer()).isEqualTo(KEYS);
            assertThat(client.info("loading")).isEqualTo("0");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"SHUTDOWN", "SHUTDOWN SAVE", "TERM"})
    void aServerThatIsEndedWhileItLoads_leavesItsFiles(String how) throws Exception {
        try (Loading server = new Loading(); RawClient client = server.connect()) {
            assertThat(client.command("PING")).startsWith("-LOADING ");
            if (how.equals("TERM")) {
                server.process.destroy();
            } else {
                client.send(RawClient.encode(how.split(" ")));
            }
            assertThat(server.process.waitFor(END_SECONDS, TimeUnit.SECONDS)).isTrue();
            assertThat(server.process.exitValue()).isZero();
        }
        // It would hold a part of the data.
        assertThat(directory.resolve("dump.rdb")).doesNotExist();
        try (ServerProcess server = ServerProcess.start(settings());
                RawClient client = new RawClient(server.port())) {
            assertThat(client.call("DBSIZE").integer()).isEqualTo(KEYS);
        }
    }

    /** A client's queue has to fit into a part of the heap; the effects of its commands may be more than them. */
    @Test
    void aTransactionWithMoreArgumentsThanTheHeapHolds_isLoaded() throws Exception {
        try (ServerProcess server = ServerProcess.start(settings()); RawClient client = new RawClient(server.port())) {
            for (int i = 0; i < MEMBERS; i += MEMBERS_OF_A_COMMAND) {
                String[] add = new String[2 + MEMBERS_OF_A_COMMAND];
                add[0] = "SADD";
                add[1] = "set";
                for (int j = 0; j < MEMBERS_OF_A_COMMAND; j++) {
                    add[2 + j] = Integer.toString(i + j);
                }
                assertThat(client.call(add).integer()).isEqualTo(MEMBERS_OF_A_COMMAND);
            }
            client.queue("MULTI");
            client.queue("SPOP", "set", Integer.toString(MEMBERS - 1));
            client.queue("INCR", "counter");
            client.queue("EXEC");
            client.flush();
            for (int i = 0; i < 3; i++) {
                client.read();
            }
            assertThat(client.read().elements()).hasSize(2);
        }
        try (ServerProcess server = ServerProcess.start(settings()); RawClient client = new RawClient(server.port())) {
            assertThat(client.call("SCARD", "set").integer()).isOne();
            assertThat(client.call("GET", "counter").text()).isEqualTo("1");
        }
    }
}
