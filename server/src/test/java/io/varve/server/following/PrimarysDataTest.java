package io.varve.server.following;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

import io.varve.server.command.CommandHarness;
import io.varve.server.replication.ReplicaRole;
import io.varve.testing.Polling;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests what a replica says of its data while it receives another snapshot: controllers promote it, or let its primary
 * serve with no data, by that. The test plays the primary, on its thread.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PrimarysDataTest {
    private static final String ID = "a".repeat(40);
    private static final String OTHER_ID = "b".repeat(40);
    private static final String HANDSHAKE = "+PONG\r\n+OK\r\n+OK\r\n+OK\r\n";
    /** An RDB file without keys and checksum. */
    private static final String EMPTY = "REDIS0010\u00ff" + "\0".repeat(8);

    private CommandHarness server;
    private Follower follower;
    private ServerSocket primary;

    @BeforeEach
    void open() throws IOException {
        server = new CommandHarness();
        follower = new Follower(server.server(), server.table(), () -> 1);
        server.server().role(follower);
        primary = new ServerSocket(0);
        follower.follow("127.0.0.1", primary.getLocalPort());
    }

    @AfterEach
    void close() throws IOException {
        follower.close();
        primary.close();
        server.close();
    }

    /** Accepts a connection, and answers PSYNC by a snapshot of which so many bytes follow. */
    private Socket accept(String id, int bytes) throws IOException {
        Socket accepted = primary.accept();
        String answer = HANDSHAKE + "+FULLRESYNC " + id + " 0\r\n$" + EMPTY.length() + "\r\n";
        accepted.getOutputStream().write((answer + EMPTY.substring(0, bytes)).getBytes(StandardCharsets.ISO_8859_1));
        return accepted;
    }

    private void awaitState(ReplicaRole.State state) {
        while (Objects.requireNonNull(follower.status()).state() != state) {
            Polling.pause();
        }
    }

    /** REPLICAOF ends the connection to the former primary, and not the one that its thread has opened since. */
    @Test
    void theConnectionToANewPrimaryStaysOpen() throws IOException {
        for (int i = 0; i < 300; i++) {
            try (Socket accepted = primary.accept()) {
                byte[] ping = accepted.getInputStream().readNBytes(14);
                assertThat(new String(ping, StandardCharsets.ISO_8859_1)).as("connection %d", i)
                        .isEqualTo("*1\r\n$4\r\nPING\r\n");
                follower.follow("127.0.0.1", primary.getLocalPort());
            }
        }
    }

    @Test
    void snapshotOfTheSameHistory_whileItArrives() throws IOException {
        assertThat(follower.hasPrimarysData()).isFalse();
        try (Socket _ = accept(ID, EMPTY.length())) {
            awaitState(ReplicaRole.State.CONNECTED);
            assertThat(follower.hasPrimarysData()).isTrue();
        }
        try (Socket _ = accept(ID, 5)) {
            awaitState(ReplicaRole.State.SYNC);
            assertThat(follower.hasPrimarysData()).as("it is older, but whole").isTrue();
        }
        assertThat(follower.hasPrimarysData()).isTrue();
    }

    @Test
    void snapshotOfAnotherHistory_whileItArrives() throws IOException {
        try (Socket _ = accept(ID, EMPTY.length())) {
            awaitState(ReplicaRole.State.CONNECTED);
        }
        try (Socket _ = accept(OTHER_ID, 5)) {
            awaitState(ReplicaRole.State.SYNC);
            assertThat(follower.hasPrimarysData()).isFalse();
        }
    }
}
