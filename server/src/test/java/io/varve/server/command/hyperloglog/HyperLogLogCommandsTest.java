package io.varve.server.command.hyperloglog;

import io.varve.server.command.CommandHarness;
import io.varve.server.command.HarnessTest;
import io.varve.server.config.ServerConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Commands on HyperLogLogs: replies, bytes, and corrupt values. Confined to the test's thread. */
class HyperLogLogCommandsTest extends HarnessTest {
    private static final String EMPTY = "HYLL\1\0\0\0\0\0\0\0\0\0\0\u0080\u007f\u00ff";

    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {"PFADD new; :1", "PFADD h a; :0", "PFADD h d; :1", "PFADD h; :0",
            "PFADD s a; -WRONGTYPE Key is not a valid HyperLogLog string value.", "PFADD t a; -W", "PFCOUNT h; :3",
            "PFCOUNT missing; :0", "PFCOUNT h missing; :3", "PFCOUNT t; -W", "PFCOUNT h t; -W",
            "PFCOUNT h s; -WRONGTYPE Key is not a valid HyperLogLog string value.", "PFMERGE new; +OK",
            "PFMERGE new h missing; +OK", "PFMERGE s h; -WRONGTYPE Key is not a valid HyperLogLog string value.",
            "PFMERGE new t; -W", "PFDEBUG ENCODING h; +sparse", "PFDEBUG TODENSE h; :1",
            "PFDEBUG DECODE h; $44 Z:8436 v:1,1 Z:4274 v:2,1 Z:3068 v:1,1 Z:603",
            "PFDEBUG foo h; -ERR Unknown PFDEBUG subcommand 'foo'",
            "PFDEBUG foo missing; -ERR The specified key does not exist", "PFSELFTEST; +OK"})
    void repliesAreThoseOfRedis(String command, String reply) {
        server.run("PFADD h a b c");
        server.run("SET s text");
        server.run("SADD t x");
        assertThat(execute(command.split(" "))).isEqualTo(reply.equals("-W")
                ? "-WRONGTYPE Operation against a key holding the wrong kind of value"
                : reply);
    }

    @Test
    void bytesAreThoseOfRedis() {
        server.run("PFADD h");
        assertThat(server.run("GET h")).isEqualTo("$18\r\n" + EMPTY + "\r\n");
        server.run("PFMERGE m");
        assertThat(server.run("GET m")).isEqualTo("$18\r\n" + EMPTY + "\r\n");
        server.run("PFCOUNT m");
        assertThat(server.run("GET m")).isEqualTo("$18\r\n" + EMPTY.replace('\u0080', '\0') + "\r\n");
    }

    @Test
    void readingAHyperLogLogMakesItARawString() {
        server.run("PFADD h a");
        server.run("SET", "copy", EMPTY);
        assertThat(execute("OBJECT", "ENCODING", "copy")).isEqualTo("$6 embstr");
        assertThat(execute("PFCOUNT", "copy")).isEqualTo(":0");
        assertThat(execute("OBJECT", "ENCODING", "copy")).isEqualTo("$3 raw");
        server.run("EXPIRE h 1000");
        server.run("PFADD h b c d");
        server.run("PFMERGE h copy");
        assertThat(execute("TTL", "h")).isEqualTo(":1000");
        assertThat(execute("PFCOUNT", "h", "copy")).isEqualTo(":4");
    }

    @Test
    void manyElementsAreEstimatedSparseAndDense() {
        for (int i = 0; i < 20_000; i += 100) {
            String[] words = new String[102];
            words[0] = "PFADD";
            words[1] = i % 200 == 0 ? "even" : "odd";
            for (int j = 0; j < 100; j++) {
                words[2 + j] = "element" + (i + j);
            }
            server.run(words);
            if (i == 0) {
                assertThat(execute("PFDEBUG", "ENCODING", "even")).isEqualTo("+sparse");
            }
        }
        assertThat(execute("PFDEBUG", "ENCODING", "even")).isEqualTo("+dense");
        assertThat(estimate("even")).isBetween(9_600L, 10_400L);
        assertThat(Long.parseLong(execute("PFCOUNT", "even", "odd").substring(1))).isBetween(19_200L, 20_800L);
        server.run("PFADD all element1");
        server.run("PFMERGE all even odd");
        assertThat(estimate("all")).isBetween(19_200L, 20_800L);
        assertThat(execute("STRLEN", "all")).isEqualTo(":12304");
        assertThat(server.run("PFDEBUG GETREG all")).startsWith("*16384\r\n:");
    }

    private long estimate(String key) {
        return Long.parseLong(execute("PFCOUNT", key).substring(1));
    }

    @Test
    void howLongASparseOneMayBeIsASetting() {
        server.close();
        server = new CommandHarness(
                ServerConfig.defaults().with("maxmemory", "64mb").with("hll-sparse-max-bytes", "20"));
        server.run("PFADD h a");
        assertThat(execute("PFDEBUG", "ENCODING", "h")).isEqualTo("+dense");
        server.run("CONFIG SET hll-sparse-max-bytes 1kb");
        server.run("PFADD i a b c");
        assertThat(execute("PFDEBUG", "ENCODING", "i")).isEqualTo("+sparse");
    }

    @Test
    void aDamagedOneIsRefused() {
        server.run("PFADD h a");
        server.run("SETRANGE", "h", "17", "x");
        String corrupt = "-INVALIDOBJ Corrupted HLL object detected";
        assertThat(execute("PFCOUNT", "h")).isEqualTo(corrupt);
        assertThat(execute("PFCOUNT", "h", "missing")).isEqualTo(corrupt);
        assertThat(execute("PFMERGE", "m", "h")).isEqualTo(corrupt);
        assertThat(execute("EXISTS", "m")).isEqualTo(":0");
        assertThat(execute("PFDEBUG", "TODENSE", "h")).isEqualTo(corrupt);
        server.run("SET", "cut", EMPTY.substring(0, 16));
        assertThat(execute("PFADD", "cut", "a")).isEqualTo(corrupt);
        server.run("SET", "long", EMPTY + "\0".repeat(1_000_000));
        assertThat(execute("PFADD", "long", "a")).startsWith("-");
    }
}
