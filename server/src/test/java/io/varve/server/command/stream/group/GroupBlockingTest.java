package io.varve.server.command.stream.group;

import java.io.IOException;

import io.varve.server.testing.BlockedClients;
import io.varve.server.testing.RawClient;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests consumers that wait for new entries, over sockets. Confined to the test's thread. */
@Timeout(60)
class GroupBlockingTest extends BlockedClients {
    private static final String NO_GROUP = "-NOGROUP the consumer group this client was blocked on no longer exists";
    private static final String NO_STREAM = "-UNBLOCKED the stream key no longer exists";

    private static String entry(String id) {
        return "*1 *2 $1 s *1 *2 $3 " + id + " *2 $1 f $1 v";
    }

    private void group(String stream, String group) throws IOException {
        expect(admin, "XGROUP CREATE " + stream + " " + group + " $ MKSTREAM", "+OK");
    }

    private void add(String stream, String id) throws IOException {
        expect(admin, "XADD " + stream + " " + id + " f v", "$3 " + id);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void eachEntryIsDeliveredToOneConsumerOfAGroup_inOrderOfArrival(int loops) throws IOException {
        restart(start(loops));
        group("s", "g");
        group("s", "h");
        RawClient a = waiting("XREADGROUP GROUP g a BLOCK 0 STREAMS s >");
        RawClient b = waiting("XREADGROUP GROUP g b BLOCK 0 STREAMS s >");
        RawClient c = waiting("XREADGROUP GROUP h a BLOCK 0 STREAMS s >");
        add("s", "1-1");
        gets(a, entry("1-1"));
        gets(c, entry("1-1"));
        awaitBlocked(1);
        expect(admin, "XPENDING s g", "*4 :1 $3 1-1 $3 1-1 *1 *2 $1 a $1 1");
        send(admin, "XADD s 1-2 f v", "XPENDING s g");
        gets(admin, "$3 1-2");
        gets(admin, "*4 :2 $3 1-1 $3 1-2 *2 *2 $1 a $1 1 *2 $1 b $1 1");
        gets(b, entry("1-2"));
        awaitBlocked(0);
    }

    @Test
    void aWaitingConsumerExists() throws IOException {
        group("s", "g");
        RawClient a = waiting("XREADGROUP GROUP g a NOACK BLOCK 0 STREAMS s >");
        expect(admin, "XGROUP CREATECONSUMER s g a", ":0");
        expect(admin, "XGROUP DELCONSUMER s g a", ":0");
        add("s", "1-1");
        gets(a, entry("1-1"));
        expect(admin, "XGROUP CREATECONSUMER s g a", ":0");
        expect(admin, "XPENDING s g", "*4 :0 $-1 $-1 *-1");
    }

    @Test
    void countLimitsTheEntriesOfAConsumer_andTheRestIsForTheNextOne() throws IOException {
        group("s", "g");
        RawClient a = waiting("XREADGROUP GROUP g a COUNT 1 BLOCK 0 STREAMS s >");
        RawClient b = waiting("XREADGROUP GROUP g b COUNT 5 BLOCK 0 STREAMS s >");
        RawClient c = waiting("XREADGROUP GROUP g c BLOCK 0 STREAMS s >");
        send(admin, "MULTI", "XADD s 1-1 f v", "XADD s 1-2 f v", "EXEC");
        gets(admin, "+OK");
        gets(admin, "+QUEUED");
        gets(admin, "+QUEUED");
        gets(admin, "*2 $3 1-1 $3 1-2");
        gets(a, entry("1-1"));
        gets(b, entry("1-2"));
        awaitBlocked(1);
        add("s", "1-3");
        gets(c, entry("1-3"));
    }

    @Test
    void anEntryThatIsDeletedAtOnceServesNobody() throws IOException {
        group("s", "g");
        RawClient a = waiting("XREADGROUP GROUP g a BLOCK 0 STREAMS s >");
        send(admin, "MULTI", "XADD s 1-1 f v", "XDEL s 1-1", "EXEC", "XADD s 1-2 f v");
        gets(admin, "+OK");
        gets(admin, "+QUEUED");
        gets(admin, "+QUEUED");
        gets(admin, "*2 $3 1-1 :1");
        gets(admin, "$3 1-2");
        gets(a, entry("1-2"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"DEL s", "UNLINK s", "FLUSHALL", "FLUSHDB", "SET s v", "RENAME s t", "PEXPIREAT s 1",
            "MOVE s 1", "SWAPDB 0 1", "MULTI|DEL s|RPUSH s v|EXEC"})
    void theWaitEndsWithoutTheStream(String commands) throws IOException {
        group("s", "g");
        RawClient a = waiting("XREADGROUP GROUP g a BLOCK 0 STREAMS s >");
        RawClient b = waiting("XREADGROUP GROUP g b BLOCK 0 STREAMS s >");
        RawClient reader = waiting("XREAD BLOCK 0 STREAMS s $");
        for (String command : commands.split("\\|")) {
            execute(admin, command);
        }
        gets(a, NO_STREAM);
        gets(b, NO_STREAM);
        awaitBlocked(1);
        reader.close();
    }

    @Test
    void oneOfSeveralStreamsThatIsDeletedEndsTheWait() throws IOException {
        group("s", "g");
        group("t", "g");
        RawClient a = waiting("XREADGROUP GROUP g a BLOCK 0 STREAMS s t > >");
        expect(admin, "DEL t", ":1");
        gets(a, NO_STREAM);
        expect(admin, "EXISTS s", ":1");
    }

    @Test
    void theWaitEndsWithoutTheGroup() throws IOException {
        group("s", "g");
        group("s", "h");
        RawClient a = waiting("XREADGROUP GROUP g a BLOCK 0 STREAMS s >");
        RawClient b = waiting("XREADGROUP GROUP h a BLOCK 0 STREAMS s >");
        expect(admin, "XGROUP DESTROY s g", ":1");
        gets(a, NO_GROUP);
        awaitBlocked(1);
        add("s", "1-1");
        gets(b, entry("1-1"));
    }

    @Test
    void aStreamWithoutTheGroupEndsTheWait_andOneWithItServes() throws IOException {
        group("s", "g");
        RawClient a = waiting("XREADGROUP GROUP g a BLOCK 0 STREAMS s >");
        add("t", "1-1");
        expect(admin, "RENAME t s", "+OK");
        gets(a, NO_GROUP);
        expect(admin, "XGROUP CREATE s g $", "+OK");
        RawClient b = waiting("XREADGROUP GROUP g a BLOCK 0 STREAMS s >");
        add("t", "1-1");
        expect(admin, "XGROUP CREATE t g 0", "+OK");
        expect(admin, "RENAME t s", "+OK");
        gets(b, entry("1-1"));
    }

    @Test
    void timeoutsAndTransactionsReplyNull() throws IOException {
        group("s", "g");
        expect(admin, "XREADGROUP GROUP g a BLOCK 1 STREAMS s >", "*-1");
        send(admin, "MULTI", "XREADGROUP GROUP g a BLOCK 0 STREAMS s >", "EXEC");
        gets(admin, "+OK");
        gets(admin, "+QUEUED");
        gets(admin, "*1 *-1");
        RawClient a = waiting("HELLO 3", "XREADGROUP GROUP g a BLOCK 0 STREAMS s >");
        a.reply();
        add("s", "1-1");
        gets(a, "%1 $1 s *1 *2 $3 1-1 *2 $1 f $1 v");
    }

    @Test
    void historyDoesNotWait() throws IOException {
        group("s", "g");
        expect(admin, "XREADGROUP GROUP g a BLOCK 0 STREAMS s 0", "*1 *2 $1 s *0");
    }

    @Test
    void clientUnblockEndsTheWait() throws IOException {
        group("s", "g");
        RawClient a = connect();
        String id = id(a);
        send(a, "XREADGROUP GROUP g a BLOCK 0 STREAMS s >", "PING");
        awaitBlocked(1);
        expect(admin, "CLIENT UNBLOCK " + id + " ERROR", ":1");
        gets(a, "-UNBLOCKED client unblocked via CLIENT UNBLOCK");
        gets(a, "+PONG");
    }
}
