package io.varve.server.persistence;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

import io.varve.server.ServerOnDisk;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.ServerExtension;
import io.varve.server.testing.SettableTicker;
import io.varve.testing.Polling;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static io.varve.server.testing.BlockedClients.execute;
import static io.varve.server.testing.BlockedClients.expect;
import static io.varve.server.testing.BlockedClients.gets;
import static io.varve.server.testing.BlockedClients.send;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests {@code HeldReplies}: with {@code appendfsync always}, replies to changes wait for the disk, whose forces the
 * test holds. The server has one event loop: when it has answered another client, earlier turns have ended. Confined to
 * the test's thread.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HeldRepliesTest {
    private static final int FENCES = 5;
    private static final int CLIENTS = 20;

    /** It fails the class if a buffer leaks. */
    @RegisterExtension
    static final ServerExtension servers = ServerExtension.withoutServer();

    @TempDir
    Path directory;

    private final SettableTicker ticker = new SettableTicker();
    private ServerOnDisk server;
    private RawClient writer;
    private RawClient other;

    @BeforeEach
    void start() throws IOException {
        restart();
    }

    private void restart(String... settings) throws IOException {
        if (server != null) {
            server.close();
        }
        server = ServerOnDisk.start(directory, new ControlledDisk(), ticker, settings);
        writer = server.connect();
        other = server.connect();
    }

    @AfterEach
    void stop() throws IOException {
        server.close();
    }

    /** Sends commands, and waits until the force of their changes is held and their turn has ended. */
    private void sendHeld(RawClient client, String... commands) throws IOException {
        server.disk().hold();
        send(client, commands);
        server.disk().awaitHeld();
        settle();
        assertThat(client.isAnswered()).as("a reply that is not durable").isFalse();
    }

    /** Waits until the event loop has run everything that it has received. */
    private void settle() throws IOException {
        for (int i = 0; i < FENCES; i++) {
            expect(other, "PING", "+PONG");
        }
    }

    private void awaitValue(String key, String value) throws IOException {
        while (!other.call("GET", key).text().equals(value)) {
            Polling.pause();
        }
        settle();
    }

    private void awaitBlocked(int clients) throws IOException {
        while (other.infoLong("blocked_clients") < clients) {
            Polling.pause();
        }
    }

    private static String end(RawClient client) throws IOException {
        return client.readToEnd().replace("\r\n", " ").strip();
    }

    // --- replies

    @Test
    void repliesOfOnePipeline_waitAndComeInOrder() throws IOException {
        sendHeld(writer, "SET k 1", "GET k", "INCR k");
        send(writer, "PING");
        settle();
        assertThat(writer.isAnswered()).isFalse();
        expect(other, "GET k", "$1 2");
        server.disk().release();
        gets(writer, "+OK");
        gets(writer, "$1 1");
        gets(writer, ":2");
        gets(writer, "+PONG");
    }

    /** Later changes, each in a turn of its own, do not put off the replies to earlier ones for ever. */
    @Test
    void repliesOfManyTurns_comeInOrder() throws IOException {
        sendHeld(writer, "SET k 0");
        for (int i = 1; i <= 100; i++) {
            send(writer, "INCR k");
            awaitValue("k", Integer.toString(i));
        }
        assertThat(writer.isAnswered()).isFalse();
        assertThat(server.log().waiterCount()).as("one waiter for each client").isOne();
        server.disk().release();
        gets(writer, "+OK");
        for (int i = 1; i <= 100; i++) {
            gets(writer, ":" + i);
        }
        expect(writer, "INCR k", ":101");
    }

    /** They run on a thread of the flash tier, which records them. */
    @Test
    void repliesToFlushesAndSwapsOverFlash_wait() throws IOException {
        restart("flash-dir " + directory.resolve("flash"), "maxmemory-policy allkeys-lru");
        for (String command : List.of("FLUSHALL", "FLUSHDB", "SWAPDB 0 1")) {
            expect(writer, "SET k 1", "+OK");
            sendHeld(writer, command);
            server.disk().release();
            gets(writer, "+OK");
        }
    }

    @Test
    void withEverysec_noReplyWaits() throws IOException {
        restart("appendfsync everysec");
        server.disk().hold();
        expect(writer, "SET k 1", "+OK");
        ticker.pass(2_000);
        server.disk().awaitHeld();
        expect(writer, "SET k 2", "+OK");
    }

    @Test
    void replyToATransaction_waits_butNotToOneThatReads() throws IOException {
        sendHeld(writer, "MULTI", "SET k 1", "INCR k", "EXEC");
        send(other, "MULTI", "GET k", "EXEC");
        gets(other, "+OK");
        gets(other, "+QUEUED");
        gets(other, "*1 $1 2");
        server.disk().release();
        gets(writer, "+OK");
        gets(writer, "+QUEUED");
        gets(writer, "+QUEUED");
        gets(writer, "*2 +OK :2");
    }

    @Test
    void replyToACommandWithoutKeys_waits() throws IOException {
        expect(writer, "SET k 1", "+OK");
        sendHeld(writer, "FLUSHALL");
        expect(other, "DBSIZE", ":0");
        server.disk().release();
        gets(writer, "+OK");
    }

    @Test
    void replyToACommandThatChangesNothing_waitsForNobody() throws IOException {
        expect(other, "SET k 1", "+OK");
        sendHeld(writer, "SET l 1");
        expect(other, "DEL none", ":0");
        expect(other, "SETNX k 2", ":0");
        server.disk().release();
        gets(writer, "+OK");
    }

    @ParameterizedTest
    @ValueSource(strings = {"1", "2"})
    void replyOfAServedClient_waits(String loops) throws IOException {
        restart("io-threads " + loops);
        RawClient blocked = server.connect();
        send(blocked, "BLPOP list 0");
        awaitBlocked(1);
        RawClient moving = server.connect();
        send(moving, "BLMOVE list target LEFT LEFT 0");
        awaitBlocked(2);
        sendHeld(writer, "RPUSH list a b");
        assertThat(blocked.isAnswered()).isFalse();
        assertThat(moving.isAnswered()).isFalse();
        expect(other, "LRANGE target 0 -1", "*1 $1 b");
        expect(other, "LLEN list", ":0");
        server.disk().release();
        gets(blocked, "*2 $4 list $1 a");
        gets(moving, "$1 b");
        gets(writer, ":2");
    }

    @Test
    void withoutReplies_theNextReplyWaits() throws IOException {
        sendHeld(writer, "CLIENT REPLY OFF", "SET k 1");
        send(writer, "CLIENT REPLY ON");
        settle();
        assertThat(writer.isAnswered()).isFalse();
        server.disk().release();
        gets(writer, "+OK");
        sendHeld(writer, "CLIENT REPLY SKIP", "SET k 2", "GET k");
        server.disk().release();
        gets(writer, "$1 2");
    }

    // --- messages

    /** As a read of another client may see a change before it is durable, so may a message. */
    @Test
    void messagesForOthers_doNotWait() throws IOException {
        expect(other, "CONFIG SET notify-keyspace-events KA", "+OK");
        expect(other, "SET k 0", "+OK");
        RawClient subscriber = server.connect();
        execute(subscriber, "SUBSCRIBE channel");
        execute(subscriber, "SUBSCRIBE __keyspace@0__:k");
        RawClient tracking = server.connect();
        execute(tracking, "HELLO 3");
        expect(tracking, "CLIENT TRACKING ON", "+OK");
        expect(tracking, "GET k", "$1 0");
        sendHeld(writer, "SET k 1", "PUBLISH channel message");
        gets(subscriber, "*3 $7 message $16 __keyspace@0__:k $3 set");
        gets(subscriber, "*3 $7 message $7 channel $7 message");
        gets(tracking, ">2 $10 invalidate *1 $1 k");
        expect(tracking, "GET k", "$1 1");
        server.disk().release();
        gets(writer, "+OK");
        gets(writer, ":1");
    }

    @Test
    void messagesForTheClientItself_comeInOrderBehindItsReply() throws IOException {
        execute(writer, "HELLO 3");
        execute(writer, "SUBSCRIBE channel");
        expect(writer, "CLIENT TRACKING ON", "+OK");
        expect(writer, "GET k", "_");
        sendHeld(writer, "SET k 1");
        expect(other, "PUBLISH channel message", ":1");
        settle();
        assertThat(writer.isAnswered()).isFalse();
        server.disk().release();
        gets(writer, "+OK");
        gets(writer, ">2 $10 invalidate *1 $1 k");
        gets(writer, ">3 $7 message $7 channel $7 message");
    }

    // --- ends of connections

    @Test
    void aClientThatQuits_isDisconnectedAfterItsReply() throws IOException {
        sendHeld(writer, "SET k 1", "QUIT");
        assertThat(other.infoLong("connected_clients")).isEqualTo(2);
        server.disk().release();
        assertThat(end(writer)).isEqualTo("+OK +OK");
    }

    @Test
    void aClientThatQuitsWithoutReplies_isDisconnectedOnceItsChangeIsDurable() throws IOException {
        sendHeld(writer, "CLIENT REPLY OFF", "SET k 1", "QUIT");
        assertThat(other.infoLong("connected_clients")).isEqualTo(2);
        server.disk().release();
        assertThat(end(writer)).isEmpty();
    }

    @Test
    void aClientWithAProtocolError_isDisconnectedAfterItsReply() throws IOException {
        server.disk().hold();
        writer.send("SET k 1\r\n*1\r\n$x\r\n");
        server.disk().awaitHeld();
        settle();
        assertThat(writer.isAnswered()).isFalse();
        server.disk().release();
        assertThat(end(writer)).isEqualTo("+OK -ERR Protocol error: invalid bulk length");
    }

    @Test
    void nothingIsKeptOfClientsThatDisconnectWhileTheirReplyWaits() throws IOException {
        server.disk().hold();
        for (int i = 0; i < CLIENTS; i++) {
            RawClient leaving = new RawClient(server.server().port());
            send(leaving, "SET k " + i, i % 2 == 0 ? "PING" : "QUIT");
            awaitValue("k", Integer.toString(i));
            leaving.close();
        }
        while (other.infoLong("connected_clients") > 2) {
            Polling.pause();
        }
        assertThat(server.log().waiterCount()).isZero();
        server.disk().release();
        expect(writer, "SET l 1", "+OK");
    }

    @Test
    void aClientWhoseReplyWaits_isNotIdle() throws IOException {
        restart("timeout 60");
        sendHeld(writer, "SET k 1");
        RawClient quitting = server.connect();
        send(quitting, "SET quitting 1", "QUIT");
        awaitValue("quitting", "1");
        // Those of the second time are closed after all were checked the first time.
        for (int i = 0; i < 2; i++) {
            expect(server.connect(), "PING", "+PONG");
            assertThat(clientsAfterTheTimeout(3)).as("the two clients, and the one that asks").isEqualTo(3);
        }
        server.disk().release();
        gets(writer, "+OK");
        expect(writer, "PING", "+PONG");
        assertThat(end(quitting)).isEqualTo("+OK +OK");
    }

    /** Lets time pass until no more than so many clients are left. */
    private long clientsAfterTheTimeout(int most) throws IOException {
        while (true) {
            ticker.pass(61_000);
            try (RawClient asking = new RawClient(server.server().port())) {
                long left = asking.infoLong("connected_clients");
                if (left <= most) {
                    return left;
                }
            }
        }
    }

    // --- settings

    @ParameterizedTest
    @ValueSource(strings = {"everysec", "no"})
    void repliesLeave_whenTheyNeedNotBeDurable(String sync) throws IOException {
        sendHeld(writer, "SET k 1");
        expect(other, "CONFIG SET appendfsync " + sync, "+OK");
        gets(writer, "+OK");
        expect(writer, "SET k 2", "+OK");
    }

    @Test
    void repliesWaitAgain_whenTheyHaveToBeDurableAgain() throws IOException {
        expect(other, "CONFIG SET appendfsync no", "+OK");
        server.disk().hold();
        expect(writer, "SET k 1", "+OK");
        expect(other, "CONFIG SET appendfsync always", "+OK");
        server.disk().awaitHeld();
        send(writer, "GET k");
        settle();
        assertThat(writer.isAnswered()).as("the reply after a change that is not durable").isFalse();
        server.disk().release();
        gets(writer, "$1 1");
        sendHeld(writer, "SET k 2");
        server.disk().release();
        gets(writer, "+OK");
    }

    /** CONFIG SET itself waits for the disk, as in Redis: the log ends with a force. */
    @Test
    void repliesLeave_whenTheLogIsTurnedOff() throws IOException {
        sendHeld(writer, "SET k 1");
        send(other, "CONFIG SET appendonly no");
        server.disk().release();
        gets(writer, "+OK");
        gets(other, "+OK");
        server.disk().hold();
        expect(writer, "SET k 2", "+OK");
    }
}
