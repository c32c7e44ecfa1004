package io.varve.server;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.varve.server.testing.BlockedClients;
import io.varve.server.testing.RawClient;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests blocked clients over sockets: which client is served, when and with which element. Confined to the test's
 * thread.
 *
 * <p>Commands that a client sends after a push in one piece show whether others were served before them: they are,
 * whatever event loops the clients belong to.
 */
@Timeout(60)
class BlockingCommandsTest extends BlockedClients {
    // --- which client is served, and with which element

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void theFirstClientIsServedBeforeOthersSeeTheElement(int loops) throws IOException {
        restart(start(loops));
        RawClient a = waiting("BLPOP k 0");
        RawClient b = waiting("BRPOP k 0");
        RawClient c = waiting("BLPOP x k 0");
        RawClient pusher = connect();
        send(pusher, "RPUSH k 1 2 3 4", "LRANGE k 0 -1", "LLEN k", "RPUSH k 5", "LPOP k");
        gets(pusher, ":4");
        gets(pusher, "*1 $1 3");
        gets(pusher, ":1");
        gets(pusher, ":2");
        gets(pusher, "$1 3");
        gets(a, "*2 $1 k $1 1");
        gets(b, "*2 $1 k $1 4");
        gets(c, "*2 $1 k $1 2");
        awaitBlocked(0);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void eachPushServesTheNextOne(int loops) throws IOException {
        restart(start(loops));
        List<RawClient> waiters = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            waiters.add(waiting("BLPOP k 0"));
        }
        for (int i = 0; i < 9; i++) {
            send(admin, "RPUSH k e" + i);
        }
        for (int i = 0; i < 8; i++) {
            gets(admin, ":1");
        }
        gets(admin, ":1");
        for (int i = 0; i < 8; i++) {
            gets(waiters.get(i), "*2 $1 k $2 e" + i);
        }
        expect(admin, "LRANGE k 0 -1", "*1 $2 e8");
    }

    @Test
    void aListOfSeveralElementsServesSeveralPopsAtATime() throws IOException {
        RawClient a = waiting("BLMPOP 0 2 x k LEFT COUNT 2");
        RawClient b = waiting("BLMPOP 0 1 k RIGHT COUNT 10");
        send(admin, "RPUSH k 1 2 3 4", "EXISTS k");
        gets(admin, ":4");
        gets(admin, ":0");
        gets(a, "*2 $1 k *2 $1 1 $1 2");
        gets(b, "*2 $1 k *2 $1 4 $1 3");
    }

    @Test
    void movedElementsServeOtherClientsInTurn() throws IOException {
        RawClient last = waiting("BLPOP c 0");
        RawClient second = waiting("BLMOVE b c LEFT RIGHT 0");
        RawClient first = waiting("BRPOPLPUSH a b 0");
        RawClient watching = waiting("BLPOP a b c 0");
        send(admin, "RPUSH a v w", "EXISTS a b c");
        gets(admin, ":2");
        gets(admin, ":0");
        gets(first, "$1 w");
        gets(second, "$1 w");
        gets(last, "*2 $1 c $1 w");
        gets(watching, "*2 $1 a $1 v");
    }

    @Test
    void noCommandReachesTheTargetBeforeTheMovedElement() throws IOException {
        RawClient a = waiting("BLMOVE k target LEFT LEFT 0");
        send(admin, "RPUSH k 1", "RPUSH target 2", "LRANGE target 0 -1");
        gets(admin, ":1");
        gets(admin, ":2");
        gets(admin, "*2 $1 1 $1 2");
        gets(a, "$1 1");
    }

    @Test
    void aRotationServesAllClientsWithTheSameElement() throws IOException {
        RawClient a = waiting("BLMOVE k k LEFT RIGHT 0");
        RawClient b = waiting("BLMOVE k k RIGHT LEFT 0");
        send(admin, "RPUSH k v", "LLEN k");
        gets(admin, ":1");
        gets(admin, ":1");
        gets(a, "$1 v");
        gets(b, "$1 v");
    }

    @Test
    void aTransactionEndsBeforeAClientIsServed() throws IOException {
        RawClient a = waiting("BLPOP k 0");
        send(admin, "MULTI", "LPUSH k a", "LPUSH k b", "LPUSH k c", "LLEN k", "EXEC", "LLEN k");
        for (String reply : new String[] {"+OK", "+QUEUED", "+QUEUED", "+QUEUED", "+QUEUED", "*4 :1 :2 :3 :3", ":2"}) {
            gets(admin, reply);
        }
        gets(a, "*2 $1 k $1 c");
        expect(admin, "DEL k", ":1");
        RawClient b = waiting("BLPOP k 0");
        send(admin, "MULTI", "LPUSH k a", "DEL k", "EXEC", "MULTI", "LPUSH k a", "DEL k", "SET k v", "EXEC", "DEL k",
                "LPUSH k z");
        for (String reply : new String[] {"+OK", "+QUEUED", "+QUEUED", "*2 :1 :1", "+OK", "+QUEUED", "+QUEUED",
                "+QUEUED", "*3 :1 :1 +OK", ":1", ":1"}) {
            gets(admin, reply);
        }
        gets(b, "*2 $1 k $1 z");
    }

    @Test
    void aTransactionBehindAPushFindsTheClientsServed() throws IOException {
        RawClient a = waiting("BLPOP k 0");
        RawClient b = waiting("BLPOP k 0");
        send(admin, "RPUSH k 1 2 3", "MULTI", "LLEN k", "LPOP k", "EXEC");
        for (String reply : new String[] {":3", "+OK", "+QUEUED", "+QUEUED", "*2 :1 $1 3"}) {
            gets(admin, reply);
        }
        gets(a, "*2 $1 k $1 1");
        gets(b, "*2 $1 k $1 2");
    }

    @Test
    void theFirstPushedKeyServesAClientOfSeveralKeys() throws IOException {
        RawClient a = waiting("BLPOP k l 0");
        RawClient b = waiting("BLPOP l k 0");
        send(admin, "MULTI", "RPUSH l 1", "RPUSH k 2", "EXEC", "EXISTS k l");
        for (String reply : new String[] {"+OK", "+QUEUED", "+QUEUED", "*2 :1 :1", ":0"}) {
            gets(admin, reply);
        }
        gets(a, "*2 $1 l $1 1");
        gets(b, "*2 $1 k $1 2");
    }

    @Test
    void aKeyOfAnotherTypeServesNoClient() throws IOException {
        RawClient a = waiting("BLPOP k 0");
        expect(admin, "SET k v", "+OK");
        expect(admin, "APPEND k w", ":2");
        expect(admin, "DEL k", ":1");
        expect(admin, "HSET k f v", ":1");
        awaitBlocked(1);
        send(admin, "DEL k", "RPUSH k v", "EXISTS k");
        gets(admin, ":1");
        gets(admin, ":1");
        gets(admin, ":0");
        gets(a, "*2 $1 k $1 v");
    }

    @Test
    void aMoveToAKeyOfAnotherTypeIsAnErrorAndTheElementIsForTheNext() throws IOException {
        expect(admin, "SET target v", "+OK");
        RawClient a = waiting("BLMOVE k target LEFT LEFT 0");
        RawClient b = waiting("BLPOP k 0");
        expect(admin, "RPUSH k v", ":1");
        gets(a, "-WRONGTYPE Operation against a key holding the wrong kind of value");
        gets(b, "*2 $1 k $1 v");
    }

    @ParameterizedTest
    @ValueSource(strings = {"RENAME from k", "RENAMENX from k", "COPY from k", "LMOVE from k LEFT LEFT",
            "RPOPLPUSH from k", "LPUSH k v"})
    void listsCreatedByAnyCommandServeBlockedClients(String command) throws IOException {
        expect(admin, "RPUSH from v", ":1");
        RawClient a = waiting("BLPOP k 0");
        send(admin, command, "EXISTS k");
        assertThat(admin.reply()).doesNotStartWith("-");
        gets(admin, ":0");
        gets(a, "*2 $1 k $1 v");
    }

    /** The shards of the targets are locked beside those that the command names. */
    @ParameterizedTest
    @ValueSource(strings = {"RENAME from k", "COPY from k", "LMOVE from k LEFT LEFT", "SORT from ALPHA STORE k",
            "SORT from ALPHA BY w_* STORE k", "MULTI;RENAME from k;EXEC", "MULTI;SELECT 0;LPUSH k v;EXEC",
            "SELECT 3;LPUSH k v;MOVE k 0;SELECT 0", "SELECT 3;LPUSH j v;COPY j k DB 0;SELECT 0"})
    void listsCreatedByAnyCommandAreMovedByBlockedClients(String commands) throws IOException {
        expect(admin, "RPUSH from v", ":1");
        List<RawClient> movers = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            movers.add(waiting("BLMOVE " + (i == 0 ? "k" : "t" + i) + " t" + (i + 1) + " LEFT RIGHT 0"));
        }
        send(admin, commands.split(";"));
        send(admin, "EXISTS k t1 t2 t3 t11", "LRANGE t12 0 -1");
        String reply = admin.reply();
        while (!reply.startsWith("*1\r\n$1\r\nv")) {
            assertThat(reply).doesNotStartWith("-");
            reply = admin.reply();
        }
        for (RawClient mover : movers) {
            gets(mover, "$1 v");
        }
    }

    // --- what others learn of it

    @Test
    void eventsOfTheServiceFollowThoseOfTheCommand() throws IOException {
        expect(admin, "CONFIG SET notify-keyspace-events EA", "+OK");
        RawClient listener = connect();
        send(listener, "PSUBSCRIBE __keyevent@0__:*");
        listener.reply();
        RawClient a = waiting("BLPOP k 0");
        RawClient b = waiting("BLMOVE k t LEFT RIGHT 0");
        expect(admin, "RPUSH k v w x", ":3");
        gets(a, "*2 $1 k $1 v");
        gets(b, "$1 w");
        RawClient c = waiting("BLPOP l 0");
        send(admin, "MULTI", "RPUSH l v", "SET s v", "EXEC");
        gets(c, "*2 $1 l $1 v");
        for (String event : new String[] {"rpush k", "lpop k", "rpush t", "lpop k", "rpush l", "set s", "lpop l",
                "del l"}) {
            String[] message = listener.reply().split("\r\n");
            assertThat(message[6] + " " + message[8]).isEqualTo("__keyevent@0__:" + event);
        }
    }

    @Test
    void invalidationsOfTheServiceAreThoseOfTheBlockedClient() throws IOException {
        RawClient pusher = connect();
        RawClient blocked = connect();
        for (RawClient client : new RawClient[] {pusher, blocked}) {
            client.command("HELLO", "3");
            expect(client, "CLIENT TRACKING ON BCAST NOLOOP", "+OK");
        }
        send(blocked, "BLMOVE k t LEFT RIGHT 0");
        awaitBlocked(1);
        send(pusher, "RPUSH k v");
        assertThat(untilPong(pusher)).contains(":1", "invalidate", "$1 t");
        assertThat(untilPong(blocked)).contains("$1 v", "invalidate", "$1 k").doesNotContain("$1 t");
    }

    private static String untilPong(RawClient client) throws IOException {
        send(client, "PING");
        StringBuilder replies = new StringBuilder();
        while (replies.indexOf("+PONG") < 0) {
            replies.append(client.reply().replace("\r\n", " "));
        }
        return replies.toString();
    }

    @Test
    void aServedMoveBreaksAWatchOfItsTarget() throws IOException {
        RawClient watcher = connect();
        expect(watcher, "WATCH t", "+OK");
        RawClient a = waiting("BLMOVE k t LEFT RIGHT 0");
        expect(admin, "RPUSH k v", ":1");
        gets(a, "$1 v");
        send(watcher, "MULTI", "PING", "EXEC");
        gets(watcher, "+OK");
        gets(watcher, "+QUEUED");
        gets(watcher, "*-1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"MOVE k 5", "COPY k k DB 5", "SWAPDB 0 5", "SWAPDB 5 0"})
    void listsMovedFromAnotherDatabaseServeBlockedClients(String command) throws IOException {
        expect(admin, "RPUSH k v", ":1");
        RawClient a = connect();
        expect(a, "SELECT 5", "+OK");
        send(a, "BLPOP other k 0");
        awaitBlocked(1);
        RawClient elsewhere = waiting("BLPOP none 0");
        assertThat(execute(admin, command)).doesNotStartWith("-");
        gets(a, "*2 $1 k $1 v");
        awaitBlocked(1);
        assertThat(elsewhere.isAnswered()).isFalse();
    }

    // --- how waiting ends

    @ParameterizedTest
    @CsvSource({"BLPOP k 0.02,2", "BRPOP k l 0.001,2", "BLMOVE k l LEFT LEFT 0.02,2", "BRPOPLPUSH k l 0.02,2",
            "BLMPOP 0.02 1 k LEFT,2", "BLPOP k 0.02,3", "BLMOVE k l LEFT LEFT 0.02,3"})
    void theEndOfTheTimeIsAnsweredWithNothing(String command, int protocol) throws IOException {
        endsWithNothing(command, protocol, "RPUSH k v", "LLEN k");
    }

    @Test
    void aTimeThatIsNotOverIsNotMadeLongerByWhatDoesNotServe() throws IOException {
        RawClient a = waiting("BLPOP k 2");
        long started = System.nanoTime();
        while (!a.isAnswered()) {
            expect(admin, "SET k v", "+OK");
            expect(admin, "DEL k", ":1");
            assertThat(TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - started)).isLessThan(30);
        }
        gets(a, "*-1");
    }

    @Test
    void anotherClientEndsTheWaiting() throws IOException {
        RawClient a = connect();
        String id = id(a);
        expect(admin, "CLIENT UNBLOCK " + id, ":0");
        send(a, "BLPOP k 0", "BLMOVE k l LEFT LEFT 0", "WAIT 1 0", "WAIT 1 0", "PING");
        awaitBlocked(1);
        expect(admin, "CLIENT UNBLOCK " + id, ":1");
        gets(a, "*-1");
        awaitBlocked(1);
        expect(admin, "CLIENT UNBLOCK " + id + " ERROR", ":1");
        gets(a, "-UNBLOCKED client unblocked via CLIENT UNBLOCK");
        awaitBlocked(1);
        expect(admin, "CLIENT UNBLOCK " + id + " TIMEOUT", ":1");
        gets(a, ":0");
        awaitBlocked(1);
        expect(admin, "CLIENT UNBLOCK " + id + " error", ":1");
        gets(a, "-UNBLOCKED client unblocked via CLIENT UNBLOCK");
        gets(a, "+PONG");
        expect(admin, "CLIENT UNBLOCK " + id, ":0");
        expect(admin, "RPUSH k v", ":1");
        expect(admin, "LLEN k", ":1");
    }

    @Test
    void aServedClientCannotBeUnblocked() throws IOException {
        for (int i = 0; i < 200; i++) {
            RawClient a = connect();
            String id = id(a);
            send(a, "BLPOP k 0");
            awaitBlocked(1);
            send(admin, "RPUSH k v", "CLIENT UNBLOCK " + id, "EXISTS k");
            gets(admin, ":1");
            gets(admin, ":0");
            gets(admin, ":0");
            gets(a, "*2 $1 k $1 v");
            a.close();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void noElementIsTakenForADisconnectedClient(boolean killed) throws IOException {
        RawClient a = connect();
        String id = id(a);
        send(a, "BLPOP k 0");
        awaitBlocked(1);
        RawClient b = waiting("BLPOP k 0");
        if (killed) {
            // In one piece: the push is executed before the connection knows of its end.
            send(admin, "CLIENT KILL ID " + id, "RPUSH k v");
            gets(admin, ":1");
            gets(admin, ":1");
            assertThat(a.readToEnd()).isEmpty();
        } else {
            a.close();
            awaitBlocked(1);
            expect(admin, "RPUSH k v", ":1");
        }
        gets(b, "*2 $1 k $1 v");
        awaitBlocked(0);
        assertThat(admin.info("total_blocking_keys")).isEqualTo("0");
    }

    // --- around it

    @Test
    void commandsBehindABlockedOneRunAfterIt() throws IOException {
        RawClient a = waiting("SET s 1", "BLPOP k 0", "INCR s", "BLPOP k l 0", "INCR s");
        gets(a, "+OK");
        expect(admin, "GET s", "$1 1");
        send(a, "INCR s");
        expect(admin, "RPUSH k 1", ":1");
        gets(a, "*2 $1 k $1 1");
        gets(a, ":2");
        awaitBlocked(1);
        expect(admin, "RPUSH l 2", ":1");
        gets(a, "*2 $1 l $1 2");
        gets(a, ":3");
        gets(a, ":4");
    }

    @Test
    void largeArgumentsWaitWithTheCommandInFrontOfThem() throws IOException {
        String large = "x".repeat(300_000);
        RawClient a = connect();
        a.queue("BLPOP", "k", "0");
        a.queue("SET", "s", large);
        a.queue("STRLEN", "s");
        a.flush();
        awaitBlocked(1);
        expect(admin, "RPUSH k " + large, ":1");
        assertThat(a.reply()).isEqualTo("*2\r\n$1\r\nk\r\n$300000\r\n" + large + "\r\n");
        gets(a, "+OK");
        gets(a, ":300000");
    }

    @Test
    void noReplyIsSentWhereNoneIsWanted() throws IOException {
        RawClient a = waiting("CLIENT REPLY SKIP", "BLPOP k 0", "PING");
        expect(admin, "RPUSH k v", ":1");
        gets(a, "+PONG");
        expect(admin, "EXISTS k", ":0");
    }

    @Test
    void blockedClientsAreReported() throws IOException {
        RawClient a = waiting("BLPOP k l 100");
        RawClient b = waiting("BLMOVE k m LEFT LEFT 0");
        assertThat(admin.info("clients_in_timeout_table")).isEqualTo("1");
        assertThat(admin.info("total_blocking_keys")).isEqualTo("2");
        assertThat(execute(admin, "CLIENT LIST")).contains(" flags=b ", " cmd=blpop ", " cmd=blmove ");
        expect(admin, "CONFIG RESETSTAT", "+OK");
        expect(admin, "RPUSH k 1 2", ":2");
        gets(a, "*2 $1 k $1 1");
        gets(b, "$1 2");
        RawClient c = connect();
        String id = id(c);
        send(c, "BLPOP k 0");
        awaitBlocked(1);
        expect(admin, "CLIENT UNBLOCK " + id + " ERROR", ":1");
        gets(c, "-UNBLOCKED client unblocked via CLIENT UNBLOCK");
        // Once each, however often they re-ran.
        assertThat(admin.info("cmdstat_blpop")).startsWith("calls=2,").contains("failed_calls=1");
        assertThat(admin.info("cmdstat_blmove")).startsWith("calls=1,");
        assertThat(admin.info("errorstat_UNBLOCKED")).isEqualTo("count=1");
        assertThat(admin.info("total_blocking_keys")).isEqualTo("0");
    }

    @Test
    void aServedMoveMayExceedMaxmemory() throws IOException {
        restart(servers.start("io-threads 2", "maxmemory 32mb", "shards 2"));
        String fill = "f".repeat(10_000);
        for (int i = 0; i < 1_500; i++) {
            expect(admin, "SET fill" + i + " " + fill, "+OK");
        }
        expect(admin, "SELECT 5", "+OK");
        expect(admin, "RPUSH k " + fill, ":1");
        RawClient a = waiting("BLMOVE k l LEFT LEFT 0");
        RawClient b = waiting("BLPOP k 0");
        expect(admin, "CONFIG SET maxmemory 8mb", "+OK");
        expect(admin, "SWAPDB 0 5", "+OK");
        gets(a, "$10000 " + fill);
        expect(admin, "SELECT 0", "+OK");
        expect(admin, "EXISTS k l", ":1");
        expect(admin, "CONFIG SET maxmemory 32mb", "+OK");
        expect(admin, "RPUSH k v", ":1");
        gets(b, "*2 $1 k $1 v");
    }
}
