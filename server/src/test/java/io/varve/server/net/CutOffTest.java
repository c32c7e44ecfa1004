package io.varve.server.net;

import io.varve.server.config.ServerConfig;
import io.varve.server.net.EmbeddedConnections.Client;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Connections that are cut off, and take as long as they like to close. Confined to the test's thread. */
class CutOffTest {
    private static final String MESSAGE = "m".repeat(60_000);
    private static final int MESSAGES = 20;

    private final EmbeddedConnections all = new EmbeddedConnections(ServerConfig.defaults().with("maxmemory", "64mb")
            .with("shards", "4").with("client-output-buffer-limit", "pubsub 1mb 0 0"));
    private final Client cutOff = all.connect();
    private final Client next = all.connect();
    private final Client other = all.connect();

    @AfterEach
    void stop() {
        all.close();
    }

    @Test
    void whoIsKilledWaitsForNoKeyAnyMore() {
        cutOff.send("BLPOP k 0");
        next.send("BLPOP k 0");
        cutOff.kill();
        assertThat(cutOff.isClosing()).isTrue();
        other.asks("RPUSH k x", ":1");
        assertThat(next.replies()).isEqualTo("*2 $1 k $1 x");
        other.asks("LLEN k", ":0");
        assertThat(cutOff.replies()).isEmpty();
        assertThat(all.server().blockedKeys().keyCount()).isZero();
    }

    @Test
    void whatWasPromisedToWhoIsKilledIsTheNextOnes() {
        cutOff.send("BLPOP k 0");
        next.send("BLPOP k 0");
        other.send("RPUSH k x");
        // It was called, and does not come to look.
        cutOff.kill();
        assertThat(next.replies()).isEqualTo("*2 $1 k $1 x");
        other.asks("LLEN k", ":1 :0");
        assertThat(cutOff.replies()).isEmpty();
    }

    @Test
    void whoIsKilledStandsInFrontOfNoBarrier() {
        Client called = all.connect();
        called.send("BLPOP k 0");
        next.send("BLPOP j 0");
        other.asks("RPUSH k x", ":1");
        cutOff.send("DBSIZE");
        cutOff.kill();
        other.asks("RPUSH j y", ":1");
        assertThat(next.replies()).isEqualTo("*2 $1 j $1 y");
        assertThat(called.replies()).isEqualTo("*2 $1 k $1 x");
        assertThat(cutOff.replies()).isEmpty();
    }

    @Test
    void whoIsCutOffBecauseItDoesNotReadWaitsForNoKeyAnyMore() {
        cutOff.send("HELLO 3", "SUBSCRIBE c", "BLPOP k 0");
        next.send("BLPOP k 0");
        cutOff.stopReading();
        for (int i = 0; i < MESSAGES; i++) {
            other.send("PUBLISH c " + MESSAGE);
            cutOff.run();
        }
        assertThat(other.replies()).startsWith(":1 ").endsWith(" :0");
        assertThat(cutOff.isClosing()).isTrue();
        assertThat(all.server().overOutputLimit()).isOne();
        other.asks("RPUSH k x", ":1");
        assertThat(next.replies()).isEqualTo("*2 $1 k $1 x");
        other.asks("LLEN k", ":0");
    }

    @Test
    void nothingIsKeptOfWhatWasHalfReceived() {
        long before = all.server().argumentMemory().takenBytes();
        cutOff.sendBytes("*100000\r\n" + "$1\r\nx\r\n".repeat(50_000));
        assertThat(all.server().argumentMemory().takenBytes()).isGreaterThan(before);
        cutOff.kill();
        assertThat(cutOff.isClosing()).isTrue();
        assertThat(all.server().argumentMemory().takenBytes()).isEqualTo(before);
    }

    /** It is to be closed once it has read what was replied. */
    @Test
    void whoQuitsAndDoesNotReadIsCutOffWhenItHasBeenIdle() {
        other.asks("CONFIG SET timeout 5", "+OK");
        cutOff.stopReading();
        cutOff.send("ECHO " + MESSAGE, "QUIT");
        for (int second = 0; second <= 5; second++) {
            cutOff.check();
            assertThat(cutOff.isClosing()).as("after %d s", second).isFalse();
            all.pass(1000);
        }
        cutOff.check();
        assertThat(cutOff.isClosing()).isTrue();
    }

    /** Commands that come while the connection is about to close are not executed. */
    @Test
    void nothingIsExecutedForWhoIsKilled() {
        cutOff.kill();
        cutOff.send("SET k v");
        assertThat(cutOff.replies()).isEmpty();
        other.asks("EXISTS k", ":0");
    }
}
