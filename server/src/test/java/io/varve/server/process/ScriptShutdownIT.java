package io.varve.server.process;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerExtension;
import io.varve.server.testing.ServerProcess;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests the end of a server's process while a script runs that has written and never ends: nothing of the script is
 * kept, and all that was acknowledged before is. Confined to the test's thread.
 */
class ScriptShutdownIT {
    @RegisterExtension
    static final ServerExtension servers = ServerExtension.withoutServer();

    private static final String WRITES_FOREVER = "redis.call('set', KEYS[1], 'v') redis.call('incr', 'n')"
            + " while true do end";
    private static final String BUSY = "BUSY Redis is busy running a script.";
    private static final int END_SECONDS = 30;

    @TempDir
    Path directory;

    private ServerProcess start(String... settings) throws IOException {
        List<String> all = new ArrayList<>(List.of("--maxmemory", "64mb", "--dir", directory.toString()));
        all.addAll(List.of(settings));
        return ServerProcess.start(all.toArray(String[]::new));
    }

    private static void awaitSlow(RawClient client) throws IOException {
        RawReply reply = client.call("PING");
        while (!reply.text().startsWith(BUSY)) {
            reply = client.call("PING");
        }
    }

    private void assertOnlyAcknowledgedKept(String... settings) throws IOException {
        try (ServerProcess again = start(settings); RawClient client = new RawClient(again.port())) {
            assertThat(client.call("GET", "before").text()).isEqualTo("value");
            assertThat(client.call("KEYS", "*").elements()).hasSize(1);
        }
    }

    private static void signal(ServerProcess server) throws IOException, InterruptedException {
        new ProcessBuilder("kill", "-TERM", Long.toString(server.process().pid())).start().waitFor();
    }

    @ParameterizedTest
    @CsvSource({"1,always", "1,everysec", "3,always", "3,everysec"})
    void shutdownNoSave_endsAScriptThatHasWritten(String loops, String sync) throws Exception {
        String[] log = {"--appendonly", "yes", "--appendfsync", sync};
        try (ServerProcess server = start("--appendonly", "yes", "--appendfsync", sync, "--io-threads", loops,
                "--busy-reply-threshold", "50");
                RawClient slow = new RawClient(server.port());
                RawClient other = new RawClient(server.port());
                RawClient last = new RawClient(server.port())) {
            assertThat(other.call("SET", "before", "value").text()).isEqualTo("OK");
            slow.queue("EVAL", WRITES_FOREVER, "1", "k");
            slow.flush();
            awaitSlow(other);
            assertThat(other.call("SCRIPT", "KILL").text()).startsWith("UNKILLABLE");
            assertThat(other.call("SHUTDOWN").text()).startsWith(BUSY);
            assertThat(other.call("SHUTDOWN", "SAVE").text()).startsWith(BUSY);
            // It waits for a shard: it must not see what the script has done.
            other.queue("INCR", "n");
            other.flush();
            assertThat(last.send(RawClient.encode("SHUTDOWN", "NOSAVE")).readToEnd()).isEmpty();
            assertThat(server.awaitEnd(END_SECONDS)).as(server.errors()).isZero();
            assertThat(server.errors()).doesNotContain("ERROR", "Exception");
        }
        assertOnlyAcknowledgedKept(log);
    }

    @Test
    void shutdownNoSave_endsATransactionWithSuchAScript() throws Exception {
        try (ServerProcess server = start("--appendonly", "yes", "--io-threads", "1", "--busy-reply-threshold", "50");
                RawClient slow = new RawClient(server.port());
                RawClient other = new RawClient(server.port())) {
            assertThat(other.call("SET", "before", "value").text()).isEqualTo("OK");
            for (String command : List.of("MULTI", "SET a 1")) {
                assertThat(slow.call(command.split(" ")).isError()).isFalse();
            }
            assertThat(slow.call("EVAL", WRITES_FOREVER, "1", "k").text()).isEqualTo("QUEUED");
            assertThat(slow.call("SET", "b", "2").text()).isEqualTo("QUEUED");
            slow.queue("EXEC");
            slow.flush();
            awaitSlow(other);
            assertThat(other.send(RawClient.encode("SHUTDOWN", "NOSAVE")).readToEnd()).isEmpty();
            assertThat(server.awaitEnd(END_SECONDS)).as(server.errors()).isZero();
        }
        assertOnlyAcknowledgedKept("--appendonly", "yes");
    }

    /** A script is never slow with the threshold 0. */
    @ParameterizedTest
    @ValueSource(strings = {"50", "0"})
    void aSignal_endsItAfterAWhile_withoutASnapshotOfWhatTheScriptHasDone(String threshold) throws Exception {
        try (ServerProcess server = start("--save", "3600 1", "--io-threads", "2", "--busy-reply-threshold",
                threshold);
                RawClient slow = new RawClient(server.port());
                RawClient other = new RawClient(server.port())) {
            assertThat(other.call("SET", "before", "value").text()).isEqualTo("OK");
            assertThat(other.call("SAVE").text()).isEqualTo("OK");
            slow.queue("EVAL", WRITES_FOREVER, "1", "k");
            slow.flush();
            if (threshold.equals("0")) {
                assertThat(other.call("PING").text()).isEqualTo("PONG");
            } else {
                awaitSlow(other);
            }
            signal(server);
            assertThat(server.awaitEnd(END_SECONDS)).as(server.errors()).isZero();
        }
        assertOnlyAcknowledgedKept("--save", "3600 1");
    }

    @Test
    void aSignal_waitsForAScriptThatEnds() throws Exception {
        try (ServerProcess server = start("--appendonly", "yes", "--io-threads", "2", "--busy-reply-threshold", "50");
                RawClient slow = new RawClient(server.port());
                RawClient other = new RawClient(server.port())) {
            slow.queue("EVAL", "redis.call('set', KEYS[1], 'value') for i = 1, 2e7 do end", "1", "before");
            slow.flush();
            awaitSlow(other);
            signal(server);
            assertThat(server.awaitEnd(END_SECONDS)).as(server.errors()).isZero();
        }
        assertOnlyAcknowledgedKept("--appendonly", "yes");
    }

    @Test
    void aReplica_getsNothingOfTheScript() throws Exception {
        try (ServerProcess primary = start("--io-threads", "2", "--busy-reply-threshold", "50");
                RawClient slow = new RawClient(primary.port());
                RawClient other = new RawClient(primary.port());
                var replica = servers.start("maxmemory 64mb", "io-threads 1", "replicaof 127.0.0.1 " + primary.port());
                RawClient reader = new RawClient(replica.port())) {
            assertThat(other.call("SET", "before", "value").text()).isEqualTo("OK");
            await().until(() -> reader.call("GET", "before").text().equals("value"));
            slow.queue("EVAL", WRITES_FOREVER, "1", "k");
            slow.flush();
            awaitSlow(other);
            assertThat(other.send(RawClient.encode("SHUTDOWN", "NOSAVE")).readToEnd()).isEmpty();
            assertThat(primary.awaitEnd(END_SECONDS)).as(primary.errors()).isZero();
            await().until(() -> reader.call("INFO", "replication").text().contains("master_link_status:down"));
            assertThat(reader.call("KEYS", "*").elements()).hasSize(1);
        }
    }
}
