package io.varve.server.flash;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import io.varve.server.testing.FlashClients;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests commands on keys that were demoted to flash. Confined to the test's thread. */
@Timeout(60)
class FlashKeysTest extends FlashClients {
    private static final String[] ALL = {"text", "number", "hash", "list", "set", "integers", "zset"};

    private void expect(String words, String expected) throws IOException {
        expect(client, words, expected);
    }

    /** All keys were demoted before. */
    private void expectFromFlash(String words, String expected) throws IOException {
        server.drop(ALL);
        expect(words, expected);
    }

    private void fill() throws IOException {
        expect("SET text value EX 10000", "OK");
        expect("SET number 41", "OK");
        expect("HSET hash f one g two", "2");
        expect("RPUSH list 3 1 2", "3");
        expect("SADD set a b c", "3");
        expect("SADD integers 1 2 3", "3");
        expect("ZADD zset 1 one 2 two", "2");
    }

    private List<String> elements(String words) throws IOException {
        return client.call(words.split(" ")).elements().stream().map(RawReply::text).toList();
    }

    // --- commands

    @Test
    void dumpsOfDemotedKeysAreEqual() throws IOException {
        fill();
        String number = client.call("DUMP", "number").text();
        for (String key : ALL) {
            String dumped = client.call("DUMP", key).text();
            String encoding = client.call("OBJECT", "ENCODING", key).text();
            server.drop(ALL);
            assertThat(client.call("OBJECT", "ENCODING", key).text()).as(key).isEqualTo(encoding);
            server.drop(ALL);
            assertThat(client.call("DUMP", key).text()).as(key).isEqualTo(dumped);
            server.drop(ALL);
            assertThat(restore(key, number, false)).startsWith("BUSYKEY");
            server.drop(ALL);
            assertThat(restore(key, number, true)).isEqualTo("OK");
            server.drop(key);
            expect("GET " + key, "41");
            expect("DEL " + key, "1");
            assertThat(restore(key, dumped, false)).isEqualTo("OK");
            server.drop(key);
            assertThat(client.call("DUMP", key).text()).as(key).isEqualTo(dumped);
        }
        expect("DBSIZE", Integer.toString(ALL.length));
    }

    private String restore(String key, String payload, boolean replace) throws IOException {
        List<byte[]> words = new ArrayList<>();
        for (String word : List.of("RESTORE", key, "0", payload)) {
            words.add(word.getBytes(StandardCharsets.ISO_8859_1));
        }
        if (replace) {
            words.add("REPLACE".getBytes(StandardCharsets.ISO_8859_1));
        }
        return client.call(words).text();
    }

    @Test
    void renamedAndCopied() throws IOException {
        fill();
        expectFromFlash("RENAMENX text number", "0");
        expectFromFlash("COPY text number", "0");
        expectFromFlash("RENAME text number", "OK");
        server.drop("number");
        assertThat(client.call("TTL", "number").integer()).isBetween(9000L, 10_000L);
        expect("GET number", "value");
        expectFromFlash("EXISTS text", "0");
        expectFromFlash("COPY hash list REPLACE", "1");
        server.drop("hash", "list");
        expect("HGET list g", "two");
        expect("HDEL list f g", "2");
        expect("EXISTS list", "0");
        expectFromFlash("HGET hash f", "one");
        expectFromFlash("RENAMENX hash nothing", "1");
        server.drop("nothing");
        expectFromFlash("COPY set set2", "1");
        server.drop("set", "set2");
        expect("SINTERCARD 2 set set2", "3");
        expectFromFlash("RENAME hash x", "ERR no such key");
        expectFromFlash("SMOVE set integers a", "1");
        expectFromFlash("ZRANGESTORE number zset 0 -1", "2");
        server.drop("number");
        expect("TTL number", "-1");
        expectFromFlash("DBSIZE", "6");
    }

    @Test
    void sorted() throws IOException {
        fill();
        expect("MSET w_1 9 w_2 8 w_3 7 v_1 uno v_2 dos", "OK");
        expect("HSET h_3 f tres", "1");
        String[] others = {"list", "w_1", "w_2", "w_3", "v_1", "v_2", "h_3"};
        server.drop(others);
        assertThat(elements("SORT list")).containsExactly("1", "2", "3");
        server.drop(others);
        assertThat(elements("SORT list BY w_* GET # GET v_* GET h_*->f")).containsExactly("3", "-1 (null)", "tres",
                "2", "dos", "-1 (null)", "1", "uno", "-1 (null)");
        server.drop(others);
        server.drop(ALL);
        expect("SORT list BY w_* STORE text", "3");
        server.drop("text");
        assertThat(elements("LRANGE text 0 -1")).containsExactly("3", "2", "1");
        expect("TTL text", "-1");
        server.drop("text", "list");
        expect("SORT nothing STORE text", "0");
        expect("EXISTS text", "0");
    }

    @Test
    void exchangedWithAnotherDatabase() throws IOException {
        expect("MSET k zero l zero", "OK");
        expect("SELECT 1", "OK");
        expect("MSET k one m one", "OK");
        server.drop("k", "l");
        server.drop(1, "k", "m");
        expect(other, "SWAPDB 0 1", "OK");
        expect("GET k", "zero");
        expect("EXISTS k l m", "2");
        expect("DEL l", "1");
        expect(other, "GET k", "one");
        expect(other, "EXISTS k l m", "2");
        server.drop("k", "m");
        server.drop(1, "k");
        expect(other, "SWAPDB 1 0", "OK");
        expect("GET k", "one");
        expect("DBSIZE", "2");
        expect(other, "DBSIZE", "1");
        expect(other, "DEL k l", "1");
        server.drop(1, "k");
        expect(other, "EXISTS k l", "0");
    }

    // --- notifications

    private static List<String> events(RawClient of) throws IOException {
        of.queue("PING");
        of.flush();
        List<String> reported = new ArrayList<>();
        for (RawReply next = of.read(); next.kind() == '>'; next = of.read()) {
            List<RawReply> push = next.elements();
            reported.add(push.getFirst().text().equals("invalidate")
                    ? push.get(1).elements().getFirst().text()
                    : push.getLast().text() + " " + push.get(push.size() - 2).text());
        }
        return reported;
    }

    /**
     * A demoted key is invalidated, since flash may drop it without notice; a client that reads it again is notified of
     * later changes.
     */
    @Test
    void cachedDemotedKeysAreInvalidatedOnChange() throws IOException {
        expect(other, "MSET k 1 l 1", "OK");
        client.call("HELLO", "3");
        expect("CLIENT TRACKING ON", "OK");
        expect("GET k", "1");
        server.drop("k", "l");
        assertThat(events(client)).containsExactly("k");
        expect(other, "SET k 2", "OK");
        assertThat(events(client)).isEmpty();
        server.drop("k");
        expect("GET k", "2");
        assertThat(events(client)).as("coming up is no change").isEmpty();
        expect(other, "INCR k", "3");
        assertThat(events(client)).containsExactly("k");
        assertThat(elements("MGET k l")).containsExactly("3", "1");
        expect(other, "DEL k", "1");
        server.drop("l");
        assertThat(events(client)).containsExactlyInAnyOrder("k", "l");
        expect(other, "SWAPDB 0 1", "OK");
        client.queue("PING");
        client.flush();
        assertThat(client.read().elements().get(1).elements()).as("everything").isEmpty();
        assertThat(client.read().text()).isEqualTo("PONG");
    }

    @Test
    void broadcastTrackersReceiveDemotedKeys() throws IOException {
        expect(other, "MSET k 1 l 1 x 1", "OK");
        server.drop("k", "l", "x");
        client.call("HELLO", "3");
        expect("CLIENT TRACKING ON BCAST PREFIX k PREFIX l", "OK");
        expect(other, "APPEND k 2", "2");
        expect(other, "DEL x l", "2");
        assertThat(events(client)).containsExactlyInAnyOrder("k", "l");
    }

    @Test
    void eventsOfDemotedKeys() throws IOException {
        fill();
        expect(other, "CONFIG SET notify-keyspace-events EAnm", "OK");
        client.call("HELLO", "3");
        client.call("PSUBSCRIBE", "*");
        server.drop(ALL);
        expect(other, "GET text", "value");
        assertThat(events(client)).as("neither falling nor coming up").isEmpty();
        server.drop(ALL);
        expect(other, "DEL text", "1");
        expect(other, "SET number 42", "OK");
        expect(other, "EXPIRE hash 10000", "1");
        expect(other, "RPOP list 3", "3");
        expect(other, "RENAME set zset", "OK");
        expect(other, "COPY integers text", "1");
        expect(other, "EXPIRE integers -1", "1");
        assertThat(events(client)).containsExactly("text __keyevent@0__:del", "number __keyevent@0__:set",
                "hash __keyevent@0__:expire", "list __keyevent@0__:rpop", "list __keyevent@0__:del",
                "zset __keyevent@0__:new", "set __keyevent@0__:rename_from", "zset __keyevent@0__:rename_to",
                "text __keyevent@0__:new",
                "text __keyevent@0__:copy_to", "integers __keyevent@0__:del");
    }

    /** An item that is lost counts as evicted, with an event: a tree is not demoted. */
    @Test
    void demotedKeysAreNotCountedAsEvicted() throws IOException {
        fill();
        server.drop(ALL);
        assertThat(client.infoLong("evicted_keys")).isZero();
        assertThat(server.stats().items()).isEqualTo(ALL.length);
        for (String key : ALL) {
            expect("EXISTS " + key, "1");
        }
        List<String> words = new ArrayList<>(List.of("RPUSH", "tree"));
        for (int i = 0; i < 1000; i++) {
            words.add("element" + i);
        }
        expect(String.join(" ", words), "1000");
        expect(other, "CONFIG SET notify-keyspace-events Ee", "OK");
        client.call("HELLO", "3");
        client.call("PSUBSCRIBE", "*");
        server.drop("tree");
        assertThat(events(client)).containsExactly("tree __keyevent@0__:evicted");
        expect(other, "EXISTS tree", "0");
        assertThat(other.infoLong("evicted_keys")).isOne();
    }
}
