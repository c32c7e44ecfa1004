package io.varve.server;

import java.io.IOException;

import io.varve.server.testing.BlockedClients;
import io.varve.server.testing.RawClient;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests clients that block on sorted sets, over sockets. Confined to the test's thread. */
@Timeout(60)
class SortedSetBlockingTest extends BlockedClients {
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void theFirstClientIsServedBeforeOthersSeeTheMember(int loops) throws IOException {
        restart(start(loops));
        RawClient a = waiting("BZPOPMIN k 0");
        RawClient b = waiting("BZPOPMAX x k 0");
        RawClient c = waiting("BZMPOP 0 2 x k MIN COUNT 2");
        send(admin, "ZADD k 1 a 2 b 3 c 4 d 5 e", "ZRANGE k 0 -1", "ZCARD k");
        gets(admin, ":5");
        gets(admin, "*1 $1 d");
        gets(admin, ":1");
        gets(a, "*3 $1 k $1 a $1 1");
        gets(b, "*3 $1 k $1 e $1 5");
        gets(c, "*2 $1 k *2 *2 $1 b $1 2 *2 $1 c $1 3");
        awaitBlocked(0);
    }

    @ParameterizedTest
    @ValueSource(strings = {"ZADD k 7 m", "ZINCRBY k 7 m", "ZUNIONSTORE k 1 from", "ZINTERSTORE k 1 from",
            "ZDIFFSTORE k 1 from", "ZRANGESTORE k from 0 -1", "RENAME from k", "RENAMENX from k", "COPY from k"})
    void sortedSetsCreatedByAnyCommandServeBlockedClients(String command) throws IOException {
        expect(admin, "ZADD from 7 m", ":1");
        RawClient a = waiting("BZPOPMIN k 0");
        send(admin, command, "EXISTS k");
        assertThat(admin.reply()).doesNotStartWith("-");
        gets(admin, ":0");
        gets(a, "*3 $1 k $1 m $1 7");
    }

    @Test
    void geoCommandsServeBlockedClients() throws IOException {
        RawClient a = waiting("BZPOPMIN k 0");
        send(admin, "GEOADD k 13.361389 38.115556 Palermo", "EXISTS k");
        gets(admin, ":1");
        gets(admin, ":0");
        gets(a, "*3 $1 k $7 Palermo $16 3479099956230698");
        expect(admin, "GEOADD from 13.361389 38.115556 Palermo", ":1");
        RawClient b = waiting("BZPOPMAX k 0");
        send(admin, "GEOSEARCHSTORE k from FROMMEMBER Palermo BYRADIUS 1 km", "EXISTS k");
        gets(admin, ":1");
        gets(admin, ":0");
        gets(b, "*3 $1 k $7 Palermo $16 3479099956230698");
    }

    @ParameterizedTest
    @ValueSource(strings = {"MOVE k 5", "COPY k k DB 5", "SWAPDB 0 5"})
    void sortedSetsMovedFromAnotherDatabaseServeBlockedClients(String command) throws IOException {
        expect(admin, "ZADD k 1 m", ":1");
        RawClient a = connect();
        expect(a, "SELECT 5", "+OK");
        send(a, "BZPOPMIN other k 0");
        awaitBlocked(1);
        assertThat(execute(admin, command)).doesNotStartWith("-");
        gets(a, "*3 $1 k $1 m $1 1");
    }

    @Test
    void eachClientIsServedFromItsType() throws IOException {
        RawClient list = waiting("BLPOP k 0");
        RawClient set = waiting("BZPOPMIN k 0");
        RawClient next = waiting("BZPOPMIN k 0");
        send(admin, "ZADD k 1 a", "EXISTS k");
        gets(admin, ":1");
        gets(admin, ":0");
        gets(set, "*3 $1 k $1 a $1 1");
        expect(admin, "RPUSH k v", ":1");
        gets(list, "*2 $1 k $1 v");
        send(admin, "SET k v", "ZADD other 2 b", "ZUNIONSTORE k 1 other", "EXISTS k");
        gets(admin, "+OK");
        gets(admin, ":1");
        gets(admin, ":1");
        gets(admin, ":0");
        gets(next, "*3 $1 k $1 b $1 2");
    }

    @Test
    void aTransactionEndsBeforeAClientIsServedAndDoesNotBlock() throws IOException {
        RawClient a = waiting("BZPOPMAX k 0");
        send(admin, "MULTI", "ZADD k 1 a 2 b", "ZREM k b", "BZPOPMIN none 0", "BZMPOP 0 1 none MAX", "EXEC");
        gets(admin, "+OK");
        for (int i = 0; i < 4; i++) {
            gets(admin, "+QUEUED");
        }
        gets(admin, "*4 :2 :1 *-1 *-1");
        gets(a, "*3 $1 k $1 a $1 1");
    }

    @ParameterizedTest
    @CsvSource({"BZPOPMIN k 0.02,2", "BZPOPMAX k l 0.001,2", "BZMPOP 0.02 1 k MIN,2", "BZPOPMIN k 0.02,3"})
    void theEndOfTheTimeIsAnsweredWithNothing(String command, int protocol) throws IOException {
        endsWithNothing(command, protocol, "ZADD k 1 m", "ZCARD k");
    }

    @Test
    void scoresAreDoublesInResp3() throws IOException {
        RawClient a = connect();
        assertThat(execute(a, "HELLO 3")).isNotEmpty();
        send(a, "BZPOPMIN k 0");
        awaitBlocked(1);
        expect(admin, "ZADD k 1.5 m", ":1");
        gets(a, "*3 $1 k $1 m ,1.5");
    }

    /** A set of thousands of members, which is a tree. */
    @Test
    void aLargeSetServesManyOneByOne() throws IOException {
        StringBuilder words = new StringBuilder("ZADD k");
        for (int i = 0; i < 3000; i++) {
            words.append(' ').append(i).append(" m").append(i);
        }
        RawClient a = waiting("BZPOPMIN k 0");
        RawClient b = waiting("BZMPOP 0 1 k MAX COUNT 2999");
        send(admin, words.toString(), "EXISTS k");
        gets(admin, ":3000");
        gets(admin, ":0");
        gets(a, "*3 $1 k $2 m0 $1 0");
        assertThat(b.reply()).startsWith("*2\r\n$1\r\nk\r\n*2999\r\n*2\r\n$5\r\nm2999\r\n$4\r\n2999\r\n");
    }

    @Test
    void noElementIsTakenForADisconnectedClient() throws IOException {
        RawClient a = waiting("BZPOPMIN k 0");
        RawClient b = waiting("BZPOPMIN k 0");
        a.close();
        awaitBlocked(1);
        expect(admin, "ZADD k 1 m", ":1");
        gets(b, "*3 $1 k $1 m $1 1");
        awaitBlocked(0);
        assertThat(admin.info("total_blocking_keys")).isEqualTo("0");
    }
}
