package io.varve.server.net;

import io.varve.server.config.ServerConfig;
import io.varve.server.net.EmbeddedConnections.Client;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests blocking commands that are delayed before they have read their keys: their timeout starts at their call.
 * Confined to the test's thread.
 */
class DelayedCommandsTest {
    // All times are of an eighth of a second, which no rounding makes longer.
    private static final String MESSAGE = "m".repeat(60_000);

    private final EmbeddedConnections all = new EmbeddedConnections(ServerConfig.defaults().with("maxmemory", "64mb")
            .with("shards", "4"));
    private final Client called = all.connect();
    private final Client held = all.connect();
    private final Client other = all.connect();

    @AfterEach
    void stop() {
        all.close();
        assertThat(all.server().blockedKeys().isAnyDelayed()).isFalse();
    }

    /** It is called, and does not look before the test says so. */
    private void promise(String key, String command) {
        called.send("BLMPOP 0 2 list " + key + " LEFT");
        other.expect(command, ":" + (command.split(" ").length - 2));
    }

    @ParameterizedTest
    @ValueSource(strings = {"BLPOP k 0.125", "BRPOP j k 0.125", "BLMOVE k to LEFT RIGHT 0.125", "BRPOPLPUSH k to 0.125",
            "BLMPOP 0.125 2 j k LEFT", "BZPOPMIN k 0.125", "BZPOPMAX k j 0.125", "BZMPOP 0.125 1 k MIN"})
    void aTimeoutPassesBehindAReservation(String command) {
        promise("k", "RPUSH k x y");
        held.send(command, "PING");
        all.pass(124);
        assertThat(held.replies()).isEmpty();
        all.pass(1);
        assertThat(held.replies()).isEqualTo("*-1 +PONG");
        assertThat(called.replies()).isEqualTo("*2 $1 k *1 $1 x");
        other.expect("LRANGE k 0 -1", "*1 $1 y");
    }

    @Test
    void behindTheBarrierItsTimeEnds() {
        Client looks = all.connect();
        Client waits = all.connect();
        waits.send("BLPOP j 0");
        promise("k", "RPUSH k x");
        looks.send("DBSIZE");
        held.send("BLPOP j 0.125");
        all.pass(125);
        assertThat(held.replies()).isEqualTo("*-1");
        assertThat(called.replies()).isEqualTo("*2 $1 k *1 $1 x");
        assertThat(looks.replies()).isEqualTo(":0");
        other.expect("RPUSH j y z", ":2");
        assertThat(waits.replies()).isEqualTo("*2 $1 j $1 y");
        other.expect("LLEN j", ":1");
    }

    @Test
    void theRemainingTimeoutAppliesToTheWait() {
        promise("k", "RPUSH k x");
        held.send("BLPOP k 0.125");
        all.pass(60);
        assertThat(called.replies()).isEqualTo("*2 $1 k *1 $1 x");
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
        promise("k", "RPUSH k x y");
        held.send("BLPOP k 0.125", "BLPOP k 0.125");
        all.pass(60);
        assertThat(called.replies()).isEqualTo("*2 $1 k *1 $1 x");
        assertThat(held.replies()).isEqualTo("*2 $1 k $1 y");
        all.pass(60);
        assertThat(held.replies()).isEmpty();
        all.pass(65);
        assertThat(held.replies()).isEqualTo("*-1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"BLPOP k 0", "BLPOP k x", "BLPOP k -1"})
    void withoutTimeoutACommandIsDelayedWithoutLimit(String command) {
        promise("k", "RPUSH k x y");
        held.send(command);
        all.pass(1_000_000);
        assertThat(held.replies()).isEmpty();
        assertThat(called.replies()).isEqualTo("*2 $1 k *1 $1 x");
        assertThat(held.replies()).startsWith(command.endsWith(" 0") ? "*2 $1 k $1 y" : "-ERR timeout is ");
    }

    /** It would publish its events, and the subscribers are too far behind. */
    @Test
    void aTimeoutPassesBehindASlowReader() {
        Client slow = all.connect();
        other.expect("CONFIG SET notify-keyspace-events KEA", "+OK");
        other.expect("RPUSH k x", ":1");
        // Its event loop takes nothing out of its inbox.
        slow.send("SUBSCRIBE c");
        Client publisher = all.connect();
        String reply = ":1";
        for (int i = 0; reply.equals(":1"); i++) {
            assertThat(i).isLessThan(10_000);
            publisher.send("PUBLISH c " + MESSAGE);
            reply = publisher.replies();
        }
        held.send("BLPOP k 0.125");
        assertThat(held.replies()).isEmpty();
        all.pass(125);
        assertThat(held.replies()).isEqualTo("*-1");
        slow.run();
    }
}
