package io.varve.server.flash;

import java.io.IOException;
import java.util.List;

import io.varve.server.testing.FlashClients;
import io.varve.server.testing.RawReply;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests MULTI, EXEC and WATCH on keys that are demoted to flash at the worst moments. Confined to the test's thread.
 */
@Timeout(60)
class FlashTransactionsTest extends FlashClients {
    private static final String NO_SELECT = "NOPERM ACLs rules changed between";

    private void queue(String words) throws IOException {
        assertThat(client.call(words.split(" ")).text()).as(words).isEqualTo("QUEUED");
    }

    private List<RawReply> exec() throws IOException {
        return client.call("EXEC").elements();
    }

    /** A deleted key stays deleted: it was not in memory and on flash. */
    private void isInOneTier(String key) throws IOException {
        expect(other, "DEL " + key, "1");
        expect(other, "EXISTS " + key, "0");
        expect(other, "DEL " + key, "0");
    }

    @Test
    void aSelectThatIsRefusedToAUserOfTheTransactionsOwn() throws IOException {
        expect(client, "SET k old", "OK");
        expect(client, "ACL SETUSER u on >p ~* +get +set +auth -select", "OK");
        server.drop("k");
        expect(client, "MULTI", "OK");
        queue("AUTH u p");
        queue("SELECT 1");
        queue("GET k");
        queue("SET k new");
        List<RawReply> replies = exec();
        assertThat(replies.get(1).text()).startsWith(NO_SELECT);
        assertThat(replies).extracting(RawReply::text).element(2).isEqualTo("old");
        assertThat(replies).extracting(RawReply::text).element(3).isEqualTo("OK");
        expect(other, "GET k", "new");
        isInOneTier("k");
    }

    /** Some keys of both databases are on flash, and where the commands will run is not known before they do. */
    @ValueSource(booleans = {true, false})
    @ParameterizedTest
    void rightsThatChangeBeforeExec(boolean taken) throws IOException {
        expect(other, "MSET k zero l zero m zero", "OK");
        expect(other, "SELECT 1", "OK");
        expect(other, "MSET k one n one m one", "OK");
        server.drop("k", "l", "m");
        server.drop(1, "k", "n", "m");
        expect(other, "SELECT 0", "OK");
        expect(other, "GET m", "zero");
        expect(other, "ACL SETUSER u on >p ~* +@all", "OK");
        expect(client, "AUTH u p", "OK");
        expect(client, "MULTI", "OK");
        queue("APPEND l !");
        queue("SELECT 1");
        queue("APPEND k !");
        queue("APPEND n !");
        queue("SELECT 2");
        queue("APPEND m !");
        queue("EXISTS k l m n");
        if (taken) {
            expect(other, "ACL SETUSER u -select", "OK");
        }
        List<RawReply> replies = exec();
        assertThat(replies.get(1).text()).startsWith(taken ? NO_SELECT : "OK");
        assertThat(replies).extracting(RawReply::text)
                .filteredOn(text -> !text.startsWith("NOPERM") && !text.equals("OK"))
                .containsExactlyElementsOf(taken ? List.of("5", "5", "1", "5", "4") : List.of("5", "4", "4", "1", "1"));
        for (String key : taken ? List.of("k", "l", "m", "n") : List.of("k", "l", "m")) {
            isInOneTier(key);
        }
        expect(other, "SELECT 1", "OK");
        for (String key : List.of("k", "n", "m")) {
            isInOneTier(key);
        }
    }

    @Test
    void aSelectOfNoDatabase() throws IOException {
        expect(client, "SET k old", "OK");
        server.drop("k");
        expect(client, "MULTI", "OK");
        queue("SELECT 99");
        queue("SELECT 01");
        queue("GET k");
        queue("SET k new");
        assertThat(exec()).extracting(RawReply::text).containsExactly("ERR DB index is out of range",
                "ERR value is not an integer or out of range", "old", "OK");
        isInOneTier("k");
    }

    @Test
    void aDemotedWatchedKeyFailsExec() throws IOException {
        expect(client, "MSET k 1 l 1", "OK");
        server.drop("k", "l");
        // WATCH brings it up, and there it stays.
        expect(client, "WATCH k nosuch", "OK");
        assertThat(server.isInMemory(0, "k")).isTrue();
        expect(other, "GET l", "1");
        expect(client, "MULTI", "OK");
        queue("INCR k");
        queue("INCR l");
        assertThat(exec()).extracting(RawReply::text).containsExactly("2", "2");

        expect(client, "WATCH k", "OK");
        server.drop("k");
        expect(client, "MULTI", "OK");
        queue("INCR k");
        assertThat(client.call("EXEC").isNull()).isTrue();
        expect(client, "GET k", "2");

        // Also if it has come up again.
        expect(client, "WATCH k", "OK");
        server.drop("k");
        expect(other, "GET k", "2");
        expect(client, "MULTI", "OK");
        queue("INCR k");
        assertThat(client.call("EXEC").isNull()).isTrue();
    }

    @Test
    void absentWatchedKeysAreNotFailedByDemotion() throws IOException {
        expect(client, "SET k 1", "OK");
        expect(client, "WATCH nosuch", "OK");
        server.drop("k");
        expect(other, "GET k", "1");
        expect(client, "MULTI", "OK");
        queue("GET nosuch");
        assertThat(exec()).hasSize(1);
    }

    /** Queued commands pin none of their keys; keys that are demoted afterwards are fetched again. */
    @Test
    void keysDemotedBetweenQueueingAndExecAreFetched() throws IOException {
        expect(client, "MSET k 1 l 2", "OK");
        expect(client, "MULTI", "OK");
        queue("RENAME k l");
        queue("COPY l m");
        queue("MGET k l m");
        server.drop("k", "l");
        List<RawReply> replies = exec();
        assertThat(replies.get(2).elements()).extracting(RawReply::text).containsExactly("-1 (null)", "1", "1");
        isInOneTier("l");
        isInOneTier("m");
    }

    @Test
    void transactionsThatNeedFlashReadsAreRefused() throws IOException {
        expect(client, "SET k 1", "OK");
        expect(client, "RPUSH list 1 2", "2");
        expect(client, "MSET w_1 9 w_2 8", "OK");
        server.drop("k", "list", "w_1", "w_2");
        for (String words : List.of("SCAN 0", "KEYS *", "DBSIZE", "RANDOMKEY", "FLUSHDB", "FLUSHALL", "SWAPDB 0 1")) {
            expect(client, "MULTI", "OK");
            expect(client, words, "ERR Command not allowed inside a transaction");
            assertThat(client.call("EXEC").text()).as(words).startsWith("EXECABORT");
        }
        expect(client, "SELECT 1", "OK");
        expect(client, "SET k 2", "OK");
        server.drop(1, "k");
        expect(client, "SELECT 0", "OK");
        expect(client, "MULTI", "OK");
        queue("MOVE k 1");
        queue("COPY k k DB 1 REPLACE");
        queue("SORT list BY w_*");
        queue("EVAL return(redis.call(unpack(ARGV))) 0 GET w_1");
        queue("EVAL return(redis.call('get',KEYS[1])) 1 w_2");
        queue("GET k");
        assertThat(exec()).extracting(RawReply::text).containsExactly(
                "ERR not allowed in a transaction: the key may be on flash in the other database",
                "ERR not allowed in a transaction: the key may be on flash in the other database",
                "ERR not allowed in a transaction: a key selected by BY or GET may be on flash",
                "9", "8", "1");
        // Alone they wait.
        expect(client, "MOVE k 1", "0");
        expect(client, "COPY k k DB 1 REPLACE", "1");
        assertThat(client.call("SORT", "list", "BY", "w_*").elements()).extracting(RawReply::text).containsExactly("2",
                "1");
    }
}
