package io.varve.server.command.blocking;

import io.varve.server.command.CommandHarness;
import io.varve.server.config.ServerConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests the pops of blocked clients, after other commands have overwritten the arguments of theirs. Confined to the
 * test's thread.
 */
class BlockedClientServerTest {
    /** A second command: it has another context, and the arguments of the first are overwritten. */
    private static final String OTHER = "MSET overwritten overwritten overwritten overwritten overwritten overwritten";

    /** Each command that may block, a command that serves it, the reply, and what is left of the key. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "BLPOP none k 0|RPUSH k a b c|*2 $1 k $1 a|LRANGE k 0 -1|*2 $1 b $1 c",
            "BRPOP k none 0|RPUSH k a b c|*2 $1 k $1 c|LRANGE k 0 -1|*2 $1 a $1 b",
            "BLMPOP 0 2 none k RIGHT COUNT 2|RPUSH k a b c|*2 $1 k *2 $1 c $1 b|LRANGE k 0 -1|*1 $1 a",
            "BLMPOP 0 1 k LEFT|RPUSH k a b|*2 $1 k *1 $1 a|LRANGE k 0 -1|*1 $1 b",
            "BLMOVE k target LEFT RIGHT 0|RPUSH k a b|$1 a|LRANGE target 0 -1|*1 $1 a",
            "BLMOVE k k RIGHT LEFT 0|RPUSH k a b|$1 b|LRANGE k 0 -1|*2 $1 b $1 a",
            "BRPOPLPUSH k target 0|RPUSH k a b|$1 b|LRANGE target 0 -1|*1 $1 b",
            "BZPOPMIN none k 0|ZADD k 1 a 2 b 3 c|*3 $1 k $1 a $1 1|ZRANGE k 0 -1|*2 $1 b $1 c",
            "BZPOPMAX k none 0|ZADD k 1 a 2 b 3 c|*3 $1 k $1 c $1 3|ZRANGE k 0 -1|*2 $1 a $1 b",
            "BZMPOP 0 2 none k MIN COUNT 2|ZADD k 1 a 2 b 3 c|*2 $1 k *2 *2 $1 a $1 1 *2 $1 b $1 2|ZRANGE k 0 -1|*1 $1 c",
            "XREAD COUNT 1 BLOCK 0 STREAMS none k 0 $|XADD k 1-2 f v|*1 *2 $1 k *1 *2 $3 1-2 *2 $1 f $1 v|XLEN k|:1",
            "BZMPOP 0 1 k MAX|ZADD k 1 a 2 b|*2 $1 k *1 *2 $1 b $1 2|ZRANGE k 0 -1|*1 $1 a"})
    void aPopUsesNoArguments(String blocking, String push, String reply, String read, String left) {
        try (CommandHarness server = new CommandHarness()) {
            assertThat(server.isDelayed(blocking.split(" "))).isTrue();
            assertThat(server.runByAnother(OTHER.split(" "))).isEqualTo("+OK\r\n");
            assertThat(server.runByAnother(push.split(" "))).doesNotStartWith("-");
            assertThat(server.blockedKeys().isAnyWaiting()).isFalse();
            assertThat(words(server.runByAnother(read.split(" ")))).isEqualTo(left);
            assertThat(words(server.run(blocking))).isEqualTo(reply);
            assertThat(server.cache().checkIntegrity()).isEmpty();
        }
    }

    private static String words(String reply) {
        return reply.replace("\r\n", " ").strip();
    }

    @Test
    void anErrorIsReportedAsTheBlockedCommands() {
        try (CommandHarness server = new CommandHarness()) {
            server.run("SET target v");
            assertThat(server.isDelayed("BLMOVE", "k", "target", "LEFT", "LEFT", "0")).isTrue();
            assertThat(server.runByAnother("RPUSH", "k", "v")).isEqualTo(":1\r\n");
            assertThat(server.runByAnother("LLEN", "k")).isEqualTo(":1\r\n");
            assertThat(server.run("BLMOVE k target LEFT LEFT 0")).startsWith("-WRONGTYPE ");
            assertThat(server.run("INFO commandstats")).containsPattern(
                    "cmdstat_blmove:calls=1,.*failed_calls=1\r\n")
                    .containsPattern("cmdstat_rpush:.*failed_calls=0\r\n");
        }
    }

    /** A name that is not copied: the client takes the element itself. */
    @Test
    void aClientOfAVeryLongName_runsItsCommandAgain() {
        String name = "n".repeat(20_000);
        try (CommandHarness server = new CommandHarness()) {
            for (String command : new String[] {"BLPOP " + name + " 0", "BLMOVE k " + name + " LEFT LEFT 0"}) {
                assertThat(server.isDelayed(command.split(" "))).isTrue();
                String key = command.startsWith("BLPOP") ? name : "k";
                assertThat(server.runByAnother("RPUSH", key, "v")).isEqualTo(":1\r\n");
                assertThat(server.runByAnother("LLEN", key)).isEqualTo(":1\r\n");
                assertThat(server.run(command)).endsWith("$1\r\nv\r\n");
                assertThat(server.runByAnother("EXISTS", key)).isEqualTo(":0\r\n");
                assertThat(server.blockedKeys().isAnyWaiting()).isFalse();
            }
        }
    }

    /** A smaller one would exceed maxmemory. */
    @Test
    void aLargeMoveWithoutMemory_isRefused() {
        ServerConfig config = ServerConfig.defaults().with("maxmemory", "8mb").with("shards", "2");
        try (CommandHarness server = new CommandHarness(config)) {
            String element = "e".repeat(3_000_000);
            assertThat(server.run("SET", "fill", element.substring(500_000))).isEqualTo("+OK\r\n");
            assertThat(server.isDelayed("BLMOVE", "k", "target", "LEFT", "LEFT", "0")).isTrue();
            assertThat(server.runByAnother("RPUSH", "k", element)).isEqualTo(":1\r\n");
            assertThat(server.runByAnother("EXISTS", "k", "target")).isEqualTo(":1\r\n");
            assertThat(server.run("BLMOVE k target LEFT LEFT 0")).startsWith("-OOM ");
            assertThat(server.runByAnother("EXISTS", "k", "target")).isEqualTo(":1\r\n");
            assertThat(server.blockedKeys().isAnyWaiting()).isFalse();
        }
    }
}
