package io.varve.proxy.map;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotMap;
import io.varve.cluster.map.SlotRange;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Tests {@link CopiesPoller}. The test's thread and one that plays the member; the queues are concurrent ones. */
class CopiesPollerTest {
    private static final Duration WITHIN = Duration.ofSeconds(60);
    private static final String ID = "a".repeat(40);
    private static final String COPIES = "*1\r\n*2\r\n$1\r\nk\r\n*1\r\n$3\r\nh:1\r\n";

    private final Queue<String> replies = new ConcurrentLinkedQueue<>();
    private final Queue<HotKeyCopies> reported = new ConcurrentLinkedQueue<>();
    private ServerSocket member;

    @BeforeEach
    void listen() throws IOException {
        member = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Thread.ofPlatform().daemon().start(this::serve);
    }

    @AfterEach
    void close() throws IOException {
        member.close();
    }

    /** Gives each request the next reply; closes the connection if there is none. */
    private void serve() {
        while (!member.isClosed()) {
            try (Socket client = member.accept();
                    BufferedReader lines = new BufferedReader(
                            new InputStreamReader(client.getInputStream(), StandardCharsets.US_ASCII))) {
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    String reply = line.equals("VARVE.COPIES") ? replies.poll() : "";
                    if (reply == null) {
                        break;
                    }
                    client.getOutputStream().write(reply.getBytes(StandardCharsets.US_ASCII));
                }
            } catch (IOException failed) {
                if (!member.isClosed()) {
                    throw new UncheckedIOException(failed);
                }
            }
        }
    }

    private SlotTable table(long epoch) {
        return new SlotTable(SlotMap.EMPTY.toBuilder()
                .member(new Member(ID, "127.0.0.1", member.getLocalPort(), 1, null))
                .owner(new SlotRange(0, HashSlot.COUNT - 1), ID).build(epoch), SlotTable.Kind.CLUSTER);
    }

    private CopiesPoller start() {
        CopiesPoller poller = new CopiesPoller(new MemberCredentials("", "", null), 10_000, copies -> {
            reported.add(copies);
            if (reported.size() == 1) {
                throw new IllegalStateException("expected by the test");
            }
        });
        poller.table(table(1));
        poller.start();
        return poller;
    }

    @Test
    void aMemberThatIsNotReady_isAskedAgain() {
        replies.add("-LOADING Varve is loading the dataset in memory\r\n");
        replies.add(COPIES);
        try (CopiesPoller _ = start()) {
            await().atMost(WITHIN).until(() -> reported.stream().anyMatch(copies -> copies.has("k")));
        }
    }

    @Test
    void anExceptionOfTheListener_doesNotEndTheThread() {
        replies.add(COPIES);
        replies.add(COPIES);
        try (CopiesPoller _ = start()) {
            await().atMost(WITHIN).until(() -> reported.size() >= 2);
        }
    }

    @Test
    void aReplyThatIsNone_doesNotEndTheThread() {
        replies.add("?\r\n");
        replies.add(COPIES);
        try (CopiesPoller _ = start()) {
            await().atMost(WITHIN).until(() -> !reported.isEmpty());
        }
    }

    @Test
    void aMemberWithoutTheCommand_isAskedAgain_withTheNextMap() {
        replies.add("-ERR unknown command 'VARVE.COPIES', with args beginning with: \r\n");
        replies.add("-NOPERM this user has no permissions to run the 'varve.copies' command\r\n");
        replies.add(COPIES);
        try (CopiesPoller poller = start()) {
            await().atMost(WITHIN).until(() -> replies.size() == 2);
            poller.table(table(2));
            await().atMost(WITHIN).until(() -> replies.size() == 1);
            assertThat(reported).isEmpty();
            poller.table(table(3));
            await().atMost(WITHIN).until(() -> !reported.isEmpty());
        }
    }
}
