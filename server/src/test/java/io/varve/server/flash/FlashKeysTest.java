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

    private void ask(String words, String expected) throws IOException {
        ask(client, words, expected);
    }

    /** All keys have fallen before. */
    private void askBelow(String words, String expected) throws IOException {
        server.drop(ALL);
        ask(words, expected);
    }

    private void fill() throws IOException {
        ask("SET text value EX 10000", "OK");
        ask("SET number 41", "OK");
        ask("HSET hash f one g two", "2");
        ask("RPUSH list 3 1 2", "3");
        ask("SADD set a b c", "3");
        ask("SADD integers 1 2 3", "3");
        ask("ZADD zset 1 one 2 two", "2");
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
            ask("GET " + key, "41");
            ask("DEL " + key, "1");
            assertThat(restore(key, dumped, false)).isEqualTo("OK");
            server.drop(key);
            assertThat(client.call("DUMP", key).text()).as(key).isEqualTo(dumped);
        }
        ask("DBSIZE", Integer.toString(ALL.length));
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
        askBelow("RENAMENX text number", "0");
        askBelow("COPY text number", "0");
        askBelow("RENAME text number", "OK");
        server.drop("number");
        assertThat(client.call("TTL", "number").integer()).isBetween(9000L, 10_000L);
        ask("GET number", "value");
        askBelow("EXISTS text", "0");
        askBelow("COPY hash list REPLACE", "1");
        server.drop("hash", "list");
        ask("HGET list g", "two");
        ask("HDEL list f g", "2");
        ask("EXISTS list", "0");
        askBelow("HGET hash f", "one");
        askBelow("RENAMENX hash nothing", "1");
        server.drop("nothing");
        askBelow("COPY set set2", "1");
        server.drop("set", "set2");
        ask("SINTERCARD 2 set set2", "3");
        askBelow("RENAME hash x", "ERR no such key");
        askBelow("SMOVE set integers a", "1");
        askBelow("ZRANGESTORE number zset 0 -1", "2");
        server.drop("number");
        ask("TTL number", "-1");
        askBelow("DBSIZE", "6");
    }

    @Test
    void sorted() throws IOException {
        fill();
        ask("MSET w_1 9 w_2 8 w_3 7 v_1 uno v_2 dos", "OK");
        ask("HSET h_3 f tres", "1");
        String[] others = {"list", "w_1", "w_2", "w_3", "v_1", "v_2", "h_3"};
        server.drop(others);
        assertThat(elements("SORT list")).containsExactly("1", "2", "3");
        server.drop(others);
        assertThat(elements("SORT list BY w_* GET # GET v_* GET h_*->f")).containsExactly("3", "-1 (null)", "tres",
                "2", "dos", "-1 (null)", "1", "uno", "-1 (null)");
        server.drop(others);
        server.drop(ALL);
        ask("SORT list BY w_* STORE text", "3");
        server.drop("text");
        assertThat(elements("LRANGE text 0 -1")).containsExactly("3", "2", "1");
        ask("TTL text", "-1");
        server.drop("text", "list");
        ask("SORT nothing STORE text", "0");
        ask("EXISTS text", "0");
    }

    @Test
    void exchangedWithAnotherDatabase() throws IOException {
        ask("MSET k zero l zero", "OK");
        ask("SELECT 1", "OK");
        ask("MSET k one m one", "OK");
        server.drop("k", "l");
        server.drop(1, "k", "m");
        ask(other, "SWAPDB 0 1", "OK");
        ask("GET k", "zero");
        ask("EXISTS k l m", "2");
        ask("DEL l", "1");
        ask(other, "GET k", "one");
        ask(other, "EXISTS k l m", "2");
        server.drop("k", "m");
        server.drop(1, "k");
        ask(other, "SWAPDB 1 0", "OK");
        ask("GET k", "one");
        ask("DBSIZE", "2");
        ask(other, "DBSIZE", "1");
        ask(other, "DEL k l", "1");
        server.drop(1, "k");
        ask(other, "EXISTS k l", "0");
    }

    // --- what is told

    private static List<String> told(RawClient of) throws IOException {
        of.queue("PING");
        of.flush();
        List<String> told = new ArrayList<>();
        for (RawReply next = of.read(); next.kind() == '>'; next = of.read()) {
            List<RawReply> push = next.elements();
            told.add(push.getFirst().text().equals("invalidate")
                    ? push.get(1).elements().getFirst().text()
                    : push.getLast().text() + " " + push.get(push.size() - 2).text());
        }
        return told;
    }

    /**
     * What falls is told as gone, for flash may let it go without a word; who reads it after that is told of what
     * follows.
     */
    @Test
    void cachedDemotedKeysAreInvalidatedOnChange() throws IOException {
        ask(other, "MSET k 1 l 1", "OK");
        client.call("HELLO", "3");
        ask("CLIENT TRACKING ON", "OK");
        ask("GET k", "1");
        server.drop("k", "l");
        assertThat(told(client)).containsExactly("k");
        ask(other, "SET k 2", "OK");
        assertThat(told(client)).isEmpty();
        server.drop("k");
        ask("GET k", "2");
        assertThat(told(client)).as("coming up is no change").isEmpty();
        ask(other, "INCR k", "3");
        assertThat(told(client)).containsExactly("k");
        assertThat(elements("MGET k l")).containsExactly("3", "1");
        ask(other, "DEL k", "1");
        server.drop("l");
        assertThat(told(client)).containsExactlyInAnyOrder("k", "l");
        ask(other, "SWAPDB 0 1", "OK");
        client.queue("PING");
        client.flush();
        assertThat(client.read().elements().get(1).elements()).as("everything").isEmpty();
        assertThat(client.read().text()).isEqualTo("PONG");
    }

    @Test
    void broadcastTrackersReceiveDemotedKeys() throws IOException {
        ask(other, "MSET k 1 l 1 x 1", "OK");
        server.drop("k", "l", "x");
        client.call("HELLO", "3");
        ask("CLIENT TRACKING ON BCAST PREFIX k PREFIX l", "OK");
        ask(other, "APPEND k 2", "2");
        ask(other, "DEL x l", "2");
        assertThat(told(client)).containsExactlyInAnyOrder("k", "l");
    }

    @Test
    void eventsOfDemotedKeys() throws IOException {
        fill();
        ask(other, "CONFIG SET notify-keyspace-events EAnm", "OK");
        client.call("HELLO", "3");
        client.call("PSUBSCRIBE", "*");
        server.drop(ALL);
        ask(other, "GET text", "value");
        assertThat(told(client)).as("neither falling nor coming up").isEmpty();
        server.drop(ALL);
        ask(other, "DEL text", "1");
        ask(other, "SET number 42", "OK");
        ask(other, "EXPIRE hash 10000", "1");
        ask(other, "RPOP list 3", "3");
        ask(other, "RENAME set zset", "OK");
        ask(other, "COPY integers text", "1");
        ask(other, "EXPIRE integers -1", "1");
        assertThat(told(client)).containsExactly("text __keyevent@0__:del", "number __keyevent@0__:set",
                "hash __keyevent@0__:expire", "list __keyevent@0__:rpop", "list __keyevent@0__:del",
                "zset __keyevent@0__:new", "set __keyevent@0__:rename_from", "zset __keyevent@0__:rename_to",
                "text __keyevent@0__:new",
                "text __keyevent@0__:copy_to", "integers __keyevent@0__:del");
    }

    /** What is gone for good counts as evicted, and is told so: a tree does not fall. */
    @Test
    void demotedKeysAreNotCountedAsEvicted() throws IOException {
        fill();
        server.drop(ALL);
        assertThat(client.infoLong("evicted_keys")).isZero();
        assertThat(server.stats().items()).isEqualTo(ALL.length);
        for (String key : ALL) {
            ask("EXISTS " + key, "1");
        }
        List<String> words = new ArrayList<>(List.of("RPUSH", "tree"));
        for (int i = 0; i < 1000; i++) {
            words.add("element" + i);
        }
        ask(String.join(" ", words), "1000");
        ask(other, "CONFIG SET notify-keyspace-events Ee", "OK");
        client.call("HELLO", "3");
        client.call("PSUBSCRIBE", "*");
        server.drop("tree");
        assertThat(told(client)).containsExactly("tree __keyevent@0__:evicted");
        ask(other, "EXISTS tree", "0");
        assertThat(other.infoLong("evicted_keys")).isOne();
    }
}
