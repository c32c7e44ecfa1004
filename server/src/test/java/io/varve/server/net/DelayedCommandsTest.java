package io.varve.server.net;

import io.varve.server.config.ServerConfig;
import io.varve.server.net.EmbeddedConnections.Client;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests blocking commands that are delayed before they have read their keys, because they would publish events while a
 * subscriber is too far behind: their timeout starts at their call. Confined to the test's thread.
 */
class DelayedCommandsTest {
    // All times are of an eighth of a second, which no rounding makes longer.
    private static final String MESSAGE = "m".repeat(60_000);

    private final EmbeddedConnections all = new EmbeddedConnections(ServerConfig.defaults().with("maxmemory", "64mb")
            .with("shards", "4"));
    private final Client slow = all.connect();
    private final Client held = all.connect();
    private final Client other = all.connect();

    @AfterEach
    void stop() {
        all.close();
        assertThat(all.server().blockedKeys().isAnyWaiting()).isFalse();
    }

    /** The event loop of a subscriber takes nothing out of its inbox. */
    private void fallBehind() {
        other.expect("CONFIG SET notify-keyspace-events KEA", "+OK");
        slow.send("SUBSCRIBE c");
        Client publisher = all.connect();
        String reply = ":1";
        for (int i = 0; reply.equals(":1"); i++) {
            assertThat(i).isLessThan(10_000);
            publisher.send("PUBLISH c " + MESSAGE);
            reply = publisher.replies();
        }
    }

    private void catchUp() {
        for (int i = 0; all.server().notifications().channels().isBacklogged(); i++) {
            assertThat(i).isLessThan(10_000);
            slow.run();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"BLPOP k 0.125", "BRPOP j k 0.125", "BLMOVE k to LEFT RIGHT 0.125", "BRPOPLPUSH k to 0.125",
            "BLMPOP 0.125 2 j k LEFT", "BZPOPMIN k 0.125", "BZPOPMAX k j 0.125", "BZMPOP 0.125 1 k MIN"})
    void aTimeoutPassesDuringTheDelay(String command) {
        other.expect("RPUSH k x", ":1");
        fallBehind();
        held.send(command, "PING");
        all.pass(124);
        assertThat(held.replies()).isEmpty();
        all.pass(1);
        assertThat(held.replies()).isEqualTo("*-1 +PONG");
        catchUp();
        other.expect("LRANGE k 0 -1", "*1 $1 x");
    }

    @Test
    void theRemainingTimeoutAppliesToTheWait() {
        fallBehind();
        held.send("BLPOP k 0.125");
        all.pass(60);
        catchUp();
        assertThat(held.replies()).isEmpty();
        all.pass(64);
        assertThat(held.replies()).isEmpty();
        all.pass(1);
        assertThat(held.replies()).isEqualTo("*-1");
        other.expect("RPUSH k y", ":1");
        held.expect("BLPOP k 0.125", "*2 $1 k $1 y");
    }

    /** The next command of the same client has a time of its own. */
    @Test
    void eachCommandHasItsOwnTimeout() {
        other.expect("RPUSH k y", ":1");
        fallBehind();
        held.send("BLPOP k 0.125", "BLPOP k 0.125");
        all.pass(60);
        catchUp();
        assertThat(held.replies()).isEqualTo("*2 $1 k $1 y");
        all.pass(60);
        assertThat(held.replies()).isEmpty();
        all.pass(65);
        assertThat(held.replies()).isEqualTo("*-1");
    }

    /** The client that is served has an event loop that does not run. */
    @Test
    void aServedClientDelaysNoCommand() {
        Client served = all.connect();
        served.send("BLMPOP 0 2 list k LEFT");
        other.send("RPUSH k x y", "DBSIZE", "LLEN k", "FLUSHALL", "SWAPDB 0 1", "DBSIZE");
        assertThat(other.replies()).isEqualTo(":2 :1 :1 +OK +OK :0");
        held.send("BLPOP k 0.125");
        other.expect("RPUSH k z", ":1");
        assertThat(held.replies()).isEqualTo("*2 $1 k $1 z");
        assertThat(served.replies()).isEqualTo("*2 $1 k *1 $1 x");
    }
}
