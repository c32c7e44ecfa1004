package io.varve.server.command.stream.group;

import io.varve.server.command.CommandHarness;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests what random commands cannot compare with Redis 7.0: times, lags as Redis 7.2 computes them, and consumers that
 * commands create. Confined to the test's thread.
 */
class GroupCommandsTest {
    private final CommandHarness server = new CommandHarness();

    @AfterEach
    void close() {
        server.close();
    }

    private String run(String command) {
        return server.run(command).replace("\r\n", " ").strip();
    }

    private void expect(String command, String reply) {
        assertThat(run(command)).as(command).isEqualTo(reply);
    }

    private void entries(int... ids) {
        for (int id : ids) {
            run("XADD s " + id + "-0 f v");
        }
    }

    @Test
    void groupsAreListedByName() {
        run("XGROUP CREATE s b $ MKSTREAM");
        run("XGROUP CREATE s a 5 ENTRIESREAD 2");
        expect("XINFO GROUPS s", "*2 *12 $4 name $1 a $9 consumers :0 $7 pending :0 $17 last-delivered-id $3 5-0"
                + " $12 entries-read :2 $3 lag :0 *12 $4 name $1 b $9 consumers :0 $7 pending :0"
                + " $17 last-delivered-id $3 0-0 $12 entries-read $-1 $3 lag :0");
        run("HELLO 3");
        assertThat(run("XINFO GROUPS s")).startsWith("*2 %6 $4 name $1 a").contains("entries-read _");
    }

    /** The entries of all streams are replied before the first of them becomes pending. */
    @Test
    void entriesOfSeveralStreamsBecomePending() {
        for (int count : new int[] {1, 3, 64, 65, 200}) {
            run("DEL s t");
            for (int id = 1; id <= count; id++) {
                run("XADD s " + id + "-0 f v");
                run("XADD t 1000-" + id + " f v");
            }
            run("XGROUP CREATE s g 0");
            run("XGROUP CREATE t g 0");
            assertThat(run("XREADGROUP GROUP g c STREAMS s t > >")).startsWith("*2");
            String first = bulk(count + "-0");
            String last = bulk("1000-" + count);
            expect("XPENDING s g", "*4 :" + count + " $3 1-0 " + first + " *1 *2 $1 c " + bulk("" + count));
            expect("XPENDING t g", "*4 :" + count + " $6 1000-1 " + last + " *1 *2 $1 c " + bulk("" + count));
            assertThat(run("XINFO GROUPS s")).contains("last-delivered-id " + first);
            assertThat(run("XINFO GROUPS t")).contains("last-delivered-id " + last);
        }
    }

    private static String bulk(String text) {
        return "$" + text.length() + " " + text;
    }

    /** The values are those of Valkey 9.1.2. */
    @Test
    void lagIsTheNumberOfEntriesToRead_whereDeletionsPermit() {
        entries(1, 2, 3, 4, 5);
        progress("XGROUP CREATE s g 0", "$-1", ":5");
        progress("XREADGROUP GROUP g c COUNT 1 STREAMS s >", ":1", ":4");
        progress("XREADGROUP GROUP g c COUNT 2 STREAMS s >", ":3", ":2");
        progress("XDEL s 4-0", ":3", "$-1");
        progress("XREADGROUP GROUP g c COUNT 1 STREAMS s >", ":5", ":0");
        progress("XADD s 6-0 f v", ":5", ":1");
        progress("XGROUP SETID s g 2-0", "$-1", "$-1");
        progress("XGROUP SETID s g 0", "$-1", "$-1");
        progress("XTRIM s MAXLEN 2", "$-1", ":2");
        progress("XGROUP SETID s g 6-0 ENTRIESREAD 9", ":9", ":-3");
        progress("XGROUP SETID s g 3-0", "$-1", "$-1");
        progress("XDEL s 6-0", "$-1", "$-1");
        progress("XTRIM s MAXLEN 0", "$-1", ":0");
        progress("XGROUP SETID s g 7-0", "$-1", "$-1");
        progress("XADD s 8-0 f v", "$-1", ":1");
        progress("XADD s 9-0 f v", "$-1", ":2");
        progress("XREADGROUP GROUP g c COUNT 1 STREAMS s >", ":7", ":1");
    }

    private void progress(String command, String read, String lag) {
        run(command);
        assertThat(run("XINFO GROUPS s")).as(command).endsWith(" $12 entries-read " + read + " $3 lag " + lag);
    }

    @Test
    void consumersAreCreated_seen_andActive() {
        run("XGROUP CREATE s g $ MKSTREAM");
        expect("XREADGROUP GROUP g c STREAMS s >", "*-1");
        expect("XCLAIM s g d 0 1-1", "*0");
        expect("XAUTOCLAIM s g e 0 -", "*3 $3 0-0 *0 *0");
        server.sleep(10);
        entries(1);
        assertThat(run("XREADGROUP GROUP g c STREAMS s >")).startsWith("*1");
        server.sleep(5);
        expect("XREADGROUP GROUP g c STREAMS s >", "*-1");
        server.sleep(1);
        expect("XINFO CONSUMERS s g", "*3 *8 $4 name $1 c $7 pending :1 $4 idle :1 $8 inactive :6"
                + " *8 $4 name $1 d $7 pending :0 $4 idle :16 $8 inactive :-1"
                + " *8 $4 name $1 e $7 pending :0 $4 idle :16 $8 inactive :-1");
        run("XAUTOCLAIM s g e 6 - JUSTID");
        expect("XINFO CONSUMERS s g", "*3 *8 $4 name $1 c $7 pending :0 $4 idle :1 $8 inactive :6"
                + " *8 $4 name $1 d $7 pending :0 $4 idle :16 $8 inactive :-1"
                + " *8 $4 name $1 e $7 pending :1 $4 idle :0 $8 inactive :0");
    }

    @Test
    void pendingEntriesHaveTheirIdleTimeAndDeliveries() {
        run("XGROUP CREATE s g $ MKSTREAM");
        entries(1, 2);
        run("XREADGROUP GROUP g c COUNT 1 STREAMS s >");
        server.sleep(100);
        run("XREADGROUP GROUP g d STREAMS s >");
        server.sleep(20);
        expect("XPENDING s g - + 10", "*2 *4 $3 1-0 $1 c :120 :1 *4 $3 2-0 $1 d :20 :1");
        expect("XPENDING s g IDLE 100 - + 10", "*1 *4 $3 1-0 $1 c :120 :1");
        run("XREADGROUP GROUP g c STREAMS s 0");
        expect("XPENDING s g - + 10 c", "*1 *4 $3 1-0 $1 c :0 :2");
        expect("XCLAIM s g d 30 2-0 1-0 JUSTID", "*0");
        expect("XCLAIM s g c 20 2-0 2-0 JUSTID IDLE 7", "*1 $3 2-0");
        expect("XPENDING s g - + 10", "*2 *4 $3 1-0 $1 c :0 :2 *4 $3 2-0 $1 c :7 :1");
        expect("XCLAIM s g c 7 2-0 2-0 IDLE 30 RETRYCOUNT 5", "*2 *2 $3 2-0 *2 $1 f $1 v *2 $3 2-0 *2 $1 f $1 v");
        expect("XPENDING s g 2 + 10", "*1 *4 $3 2-0 $1 c :30 :5");
        assertThat(run("XINFO STREAM s FULL")).contains("$7 pending *2 *4 $3 1-0 $1 c :" + server.now() + " :2 *4"
                + " $3 2-0 $1 c :" + (server.now() - 30) + " :5");
    }

    /** As in Redis, where only a new stream counts as a change of the key. */
    @Test
    void changesOfGroupsDoNotEndAWatch() {
        run("WATCH s");
        server.runByAnother("XGROUP", "CREATE", "s", "g", "$", "MKSTREAM");
        run("MULTI");
        expect("EXEC", "*-1");
        entries(1);
        run("WATCH s");
        server.runByAnother("XREADGROUP", "GROUP", "g", "c", "STREAMS", "s", ">");
        server.runByAnother("XACK", "s", "g", "1-0");
        server.runByAnother("XGROUP", "DESTROY", "s", "g");
        run("MULTI");
        expect("EXEC", "*0");
    }

    @Test
    void groupsAndConsumersOfManyNumbersKeepApart() {
        run("XGROUP CREATE s g0 0 MKSTREAM");
        for (int id = 1; id <= 40; id++) {
            run("XADD s " + id + "-" + (id % 5) * 3_000 + " f v");
        }
        for (int i = 1; i < 300; i++) {
            run("XGROUP CREATE s g" + i + " 0");
        }
        for (int i : new int[] {0, 1, 62, 63, 64, 254, 255, 256, 299}) {
            for (int j = 0; j < 3; j++) {
                run("XREADGROUP GROUP g" + i + " c" + j + " COUNT 10 STREAMS s >");
            }
        }
        for (int i : new int[] {63, 255, 0}) {
            expect("XGROUP DELCONSUMER s g" + i + " c1", ":10");
            expect("XGROUP DESTROY s g" + i, ":1");
        }
        for (int i : new int[] {1, 62, 64, 254, 256, 299}) {
            expect("XPENDING s g" + i, "*4 :30 $6 1-3000 $4 30-0 *3 *2 $2 c0 $2 10 *2 $2 c1 $2 10 *2 $2 c2 $2 10");
        }
    }

    @Test
    void moreConsumersThanTheirShortNumbers() {
        run("XGROUP CREATE s g 0 MKSTREAM");
        entries(1);
        for (int i = 0; i < 600; i++) {
            run("XGROUP SETID s g 0");
            assertThat(run("XREADGROUP GROUP g c" + i + " STREAMS s >")).startsWith("*1");
            expect("XPENDING s g", "*4 :1 $3 1-0 $3 1-0 *1 *2 $" + ("c" + i).length() + " c" + i + " $1 1");
        }
        assertThat(run("XINFO CONSUMERS s g")).startsWith("*600");
        expect("XGROUP DELCONSUMER s g c599", ":1");
        expect("XPENDING s g", "*4 :0 $-1 $-1 *-1");
    }
}
