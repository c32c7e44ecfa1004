package io.varve.server.command.introspection;

import io.varve.server.command.HarnessTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** The subcommands of DEBUG that Redis's own test suite calls. Confined to the test's thread. */
class DebugCommandsTest extends HarnessTest {
    private static final String ZEROS = "0".repeat(40);

    @Test
    void object_hasTheFieldsOfRedis() {
        execute("RPUSH l a b c");
        server.sleep(5000);
        assertThat(execute("DEBUG OBJECT l")).matches("\\+Value at:0x[0-9a-f]+ refcount:1 encoding:quicklist "
                + "serializedlength:\\d+ lru:\\d+ lru_seconds_idle:5 type:list");
        execute("SET s hello");
        assertThat(execute("DEBUG OBJECT s")).matches("\\+Value at:0x[0-9a-f]+ refcount:1 encoding:embstr "
                + "serializedlength:6 lru:" + (server.now() / 1000 & 0xFFFFFF) + " lru_seconds_idle:0");
        expect("DEBUG OBJECT none", "-ERR no such key");
        expect("DEBUG LISTPACK none", "-ERR no such key");
        expect("DEBUG LISTPACK s", "-ERR Not a listpack encoded object.");
        execute("HSET h f v");
        assertThat(execute("DEBUG LISTPACK h")).startsWith("+Varve's own packed form takes ");
    }

    @Test
    void digestValue_isThatOfRedis() {
        execute("SET s hello");
        execute("SET t hello EX 100");
        String digests = execute("DEBUG DIGEST-VALUE s none t s");
        String[] each = digests.split(" ");
        assertThat(each).hasSize(5).startsWith("*4");
        // What redis-server 7.0.15 replies.
        assertThat(each[1]).isEqualTo("+36b23a1456b2dce2c3ed252c456761301dba8060").isEqualTo(each[4]);
        assertThat(each[2]).isEqualTo("+" + ZEROS);
        assertThat(each[3]).isNotEqualTo(each[1]).isNotEqualTo(each[2]);
        expect("DEBUG DIGEST-VALUE", "*0");
    }

    @Test
    void populate_createsWhatIsMissing() {
        execute("SET key:1 mine");
        expect("DEBUG POPULATE 3", "+OK");
        expect("MGET key:0 key:1 key:2", "*3 $7 value:0 $4 mine $7 value:2");
        expect("DEBUG POPULATE 2 p 4", "+OK");
        expect("MGET p:0 p:1", "*2 $4 valu $4 valu");
        expect("DEBUG POPULATE 1 q 10", "+OK");
        expect("GET q:0", "$10 value:0\0\0\0");
        expect("MULTI", "+OK");
        expect("DEBUG POPULATE 1 r", "+QUEUED");
        expect("EXEC", "*1 +OK");
        expect("DBSIZE", ":7");
        String negative = "-ERR value is out of range, must be positive";
        expect("DEBUG POPULATE -1", negative);
        expect("DEBUG POPULATE x", negative);
        expect("DEBUG POPULATE 1 a -1", negative);
        assertThat(execute("DEBUG POPULATE 1 a 99999999999")).startsWith("-ERR DEBUG POPULATE makes values of up to");
        assertThat(execute("DEBUG POPULATE 1 a 1 1")).startsWith("-ERR unknown subcommand or wrong number");
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {"string; $11 Hello World; $11 Hello World", "integer; :12345; :12345",
            "double; $5 3.141; ,3.141",
            "bignum; $37 1234567999999999999999999999999999999; (1234567999999999999999999999999999999",
            "null; $-1; _", "array; *3 :0 :1 :2; *3 :0 :1 :2", "set; *3 :0 :1 :2; ~3 :0 :1 :2",
            "map; *6 :0 :0 :1 :1 :2 :0; %3 :0 #f :1 #t :2 #f", "TRUE; :1; #t", "false; :0; #f",
            "attrib; $39 Some real reply following the attribute;"
                    + " |1 $14 key-popularity *2 $7 key:123 :90 $39 Some real reply following the attribute",
            "push; -ERR RESP2 is not supported by this command;"
                    + " >2 $16 server-cpu-usage :42 $40 Some real reply following the push reply"})
    void protocol_repliesEachType(String type, String inResp2, String inResp3) {
        expect("DEBUG PROTOCOL " + type, inResp2);
        execute("HELLO 3");
        expect("DEBUG PROTOCOL " + type, inResp3);
    }

    @Test
    void repliesAndTexts() {
        expect("DEBUG PROTOCOL verbatim", "$25 This is a verbatim\nstring");
        assertThat(execute("DEBUG PROTOCOL x")).startsWith("-ERR Wrong protocol type name. Please use one of");
        assertThat(server.run("DEBUG", "ERROR", "FOO a\r\nb")).isEqualTo("-FOO a  b\r\n");
        expect("DEBUG STRINGMATCH-LEN a*c abbc", ":1");
        expect("DEBUG STRINGMATCH-LEN a*c abbd", ":0");
        expect("DEBUG LOG text", "+OK");
    }

    @Test
    void withoutEffect() {
        expect("DEBUG QUICKLIST-PACKED-THRESHOLD 200b", "+OK");
        expect("DEBUG QUICKLIST-PACKED-THRESHOLD 0", "+OK");
        String outOfRange = "-ERR argument must be a memory value bigger than 1 and smaller than 4gb";
        expect("DEBUG QUICKLIST-PACKED-THRESHOLD 4gb", outOfRange);
        expect("DEBUG QUICKLIST-PACKED-THRESHOLD x", outOfRange);
        expect("DEBUG PAUSE-CRON 1", "+OK");
    }

    @Test
    void changeReplId() {
        String id = field("master_replid");
        expect("DEBUG CHANGE-REPL-ID", "+OK");
        assertThat(field("master_replid")).hasSize(40).isNotEqualTo(id);
        assertThat(field("master_replid2")).isEqualTo(ZEROS);
        expect("DEBUG REPLICATE SET a 1", "+OK");
        expect("EXISTS a", ":0");
    }

    private String field(String name) {
        return server.run("INFO replication").lines().filter(line -> line.startsWith(name + ":")).findFirst()
                .orElseThrow().substring(name.length() + 1);
    }

    @Test
    void loadaof_needsALog() {
        expect("DEBUG LOADAOF", "-ERR DEBUG LOADAOF is not possible without appendonly yes");
    }

    @ParameterizedTest
    @ValueSource(strings = {"aof-flush-sleep 1", "assert", "client-eviction", "clusterlink kill all x",
            "config-rewrite-force-all", "crash-and-recover", "drop-cluster-packet-filter 1", "htstats 0",
            "htstats-key k", "jmap", "leak x", "mallctl k", "mallctl-str k", "oom", "panic", "quicklist k",
            "replybuffer resizing 0", "restart", "sdslen k", "segfault", "set-disable-deny-scripts 1",
            "set-skip-checksum-validation 1", "stringmatch-test", "structsize"})
    void subcommandsAboutInternals_areRefused(String words) {
        assertThat(execute("DEBUG " + words)).startsWith(
                "-ERR DEBUG " + words.split(" ")[0].toUpperCase(java.util.Locale.ROOT) + " is not supported: ");
    }
}
