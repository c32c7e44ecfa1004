package io.varve.server.net;

import io.varve.server.config.ServerConfig;
import io.varve.server.net.EmbeddedConnections.Client;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests disconnected connections that close slowly. Confined to the test's thread. */
class DisconnectedClientsTest {
    private static final String MESSAGE = "m".repeat(60_000);
    private static final int MESSAGES = 20;

    private final EmbeddedConnections all = new EmbeddedConnections(ServerConfig.defaults().with("maxmemory", "64mb")
            .with("shards", "4").with("client-output-buffer-limit", "pubsub 1mb 0 0"));
    private final Client disconnected = all.connect();
    private final Client next = all.connect();
    private final Client other = all.connect();

    @AfterEach
    void stop() {
        all.close();
    }

    @Test
    void aKilledClientStopsWaiting() {
        disconnected.send("BLPOP k 0");
        next.send("BLPOP k 0");
        disconnected.kill();
        assertThat(disconnected.isClosing()).isTrue();
        other.expect("RPUSH k x", ":1");
        assertThat(next.replies()).isEqualTo("*2 $1 k $1 x");
        other.expect("LLEN k", ":0");
        assertThat(disconnected.replies()).isEmpty();
        assertThat(all.server().blockedKeys().keyCount()).isZero();
    }

    /** Its event loop has not sent the reply when it is killed. */
    @ParameterizedTest
    @ValueSource(ints = {1, 300, 40_000})
    void aClientThatWasServedBeforeItWasKilledGetsItsReply(int length) {
        disconnected.send("BLPOP k 0");
        next.send("BLPOP k 0");
        String element = "x".repeat(length);
        other.send("RPUSH k " + element);
        disconnected.kill();
        assertThat(disconnected.replies()).isEqualTo("*2 $1 k $" + length + " " + element);
        assertThat(disconnected.isClosing()).isTrue();
        other.expect("LLEN k", ":1 :0");
        assertThat(next.replies()).isEmpty();
        other.expect("RPUSH k y", ":1");
        assertThat(next.replies()).isEqualTo("*2 $1 k $1 y");
    }

    @Test
    void aClientWithoutRepliesThatWasServedGetsNone() {
        disconnected.send("CLIENT REPLY OFF", "BLPOP k 0");
        other.expect("RPUSH k x", ":1");
        disconnected.kill();
        assertThat(disconnected.replies()).isEmpty();
        other.expect("LLEN k", ":0");
    }

    @Test
    void aClientDisconnectedForSlowReadingStopsWaiting() {
        disconnected.send("HELLO 3", "SUBSCRIBE c", "BLPOP k 0");
        next.send("BLPOP k 0");
        disconnected.stopReading();
        for (int i = 0; i < MESSAGES; i++) {
            other.send("PUBLISH c " + MESSAGE);
            disconnected.run();
        }
        assertThat(other.replies()).startsWith(":1 ").endsWith(" :0");
        assertThat(disconnected.isClosing()).isTrue();
        assertThat(all.server().telemetry().overOutputLimit()).isOne();
        other.expect("RPUSH k x", ":1");
        assertThat(next.replies()).isEqualTo("*2 $1 k $1 x");
        other.expect("LLEN k", ":0");
    }

    @Test
    void nothingIsKeptOfWhatWasHalfReceived() {
        long before = all.server().argumentMemory().reservedBytes();
        disconnected.sendBytes("*100000\r\n" + "$1\r\nx\r\n".repeat(50_000));
        assertThat(all.server().argumentMemory().reservedBytes()).isGreaterThan(before);
        disconnected.kill();
        assertThat(disconnected.isClosing()).isTrue();
        assertThat(all.server().argumentMemory().reservedBytes()).isEqualTo(before);
    }

    /** It is to be closed once it has read what was replied. */
    @Test
    void aQuittingClientThatDoesNotReadIsClosedWhenIdle() {
        other.expect("CONFIG SET timeout 5", "+OK");
        disconnected.stopReading();
        disconnected.send("ECHO " + MESSAGE, "QUIT");
        for (int second = 0; second <= 5; second++) {
            disconnected.check();
            assertThat(disconnected.isClosing()).as("after %d s", second).isFalse();
            all.pass(1000);
        }
        disconnected.check();
        assertThat(disconnected.isClosing()).isTrue();
    }

    /** Commands that come while the connection is about to close are not executed. */
    @Test
    void noCommandRunsForAKilledClient() {
        disconnected.kill();
        disconnected.send("SET k v");
        assertThat(disconnected.replies()).isEmpty();
        other.expect("EXISTS k", ":0");
    }
}
