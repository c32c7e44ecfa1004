package io.varve.server.command.script;

import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.varve.lua.LuaPool;
import io.varve.server.command.CommandHarness;
import io.varve.server.config.ServerConfig;
import io.varve.server.testing.SettableTicker;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests EVAL and its like beyond what {@code CommandsDifferentialTest} compares. Confined to the test's thread. */
class ScriptCommandsTest {
    private final CommandHarness harness = new CommandHarness();

    @AfterEach
    void close() {
        harness.close();
    }

    private String eval(String script, String... more) {
        String[] arguments = new String[2 + more.length];
        arguments[0] = "EVAL";
        arguments[1] = script;
        System.arraycopy(more, 0, arguments, 2, more.length);
        return harness.run(arguments);
    }

    @Test
    void aCommandsError_endsTheScript_withItsPlace() {
        harness.run("LPUSH", "list", "a");
        assertThat(eval("local x\n = 1 return redis.call('incr', KEYS[1])", "1", "list"))
                .startsWith("-WRONGTYPE Operation against a key holding the wrong kind of value script: ")
                .endsWith(", on @user_script:2.\r\n");
    }

    @Test
    void pcall_returnsTheError() {
        assertThat(eval("local e = redis.pcall('incr', 'x', 'y') return e.err", "0"))
                .isEqualTo("$58\r\nERR Wrong number of args calling Redis command from script\r\n");
    }

    @Test
    void verbatimText_hasAFormatOfThreeBytes() {
        harness.run("HELLO", "3");
        for (String format : new String[] {"a  =a", "abc=abcdef", "   =", "a  =a\\0b"}) {
            String[] expectedAndGiven = format.split("=", 2);
            assertThat(eval("return {verbatim_string = {format = '" + expectedAndGiven[1] + "', string = 'xy'}}", "0"))
                    .isEqualTo("=6\r\n" + expectedAndGiven[0] + ":xy\r\n");
        }
    }

    @Test
    void debugger_isRefused() {
        assertThat(harness.run("SCRIPT", "DEBUG", "YES"))
                .isEqualTo("-ERR Varve has no debugger for scripts: use redis.log\r\n");
    }

    @Test
    void valkeysAlias() {
        assertThat(eval("return server.call('ping')", "0")).isEqualTo("+PONG\r\n");
    }

    @Test
    void readOnlyCommand_writesNothing() {
        assertThat(harness.run("EVAL_RO", "return redis.call('set', KEYS[1], 'v')", "1", "key"))
                .startsWith("-ERR Write commands are not allowed from read-only scripts.");
        assertThat(harness.run("EXISTS", "key")).isEqualTo(":0\r\n");
    }

    @Test
    void select_endsWithTheScript() {
        assertThat(eval("redis.call('select', 1) return redis.call('set', 'key', 'v')", "0")).isEqualTo("+OK\r\n");
        assertThat(harness.run("EXISTS", "key")).isEqualTo(":0\r\n");
        harness.run("SELECT", "1");
        assertThat(harness.run("GET", "key")).isEqualTo("$1\r\nv\r\n");
    }

    @Test
    void inATransaction() {
        harness.run("MULTI");
        harness.run("SET", "key", "1");
        eval("return redis.call('incr', KEYS[1])", "1", "key");
        eval("return redis.call('incr', 'other')", "0");
        assertThat(harness.run("EXEC")).isEqualTo("*3\r\n+OK\r\n:2\r\n:1\r\n");
    }

    @Test
    void largeReplies_andLargeArguments() {
        String value = "x".repeat(300_000);
        assertThat(
                eval("redis.call('set', KEYS[1], string.rep(ARGV[1], 300000)) return #redis.call('get', KEYS[1])", "1",
                        "key", "x"))
                .isEqualTo(":300000\r\n");
        assertThat(harness.run("GET", "key")).isEqualTo("$300000\r\n" + value + "\r\n");
        assertThat(eval("return redis.call('get', KEYS[1])", "1", "key")).isEqualTo("$300000\r\n" + value + "\r\n");
    }

    @Test
    void memoryOfAScript_isBounded() {
        assertThat(eval("local t = {} for i = 1, 1e9 do t[i] = string.rep('x', 1000) .. i end", "0"))
                .startsWith("-ERR").contains("not enough memory");
        assertThat(eval("return string.rep('x', 1e9)", "0")).contains("not enough memory");
        assertThat(eval("return 1", "0")).isEqualTo(":1\r\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"return redis.call('rpush', KEYS[1], unpack(t))", "return redis.pcall(unpack(t))",
            "return redis.acl_check_cmd('rpush', KEYS[1], unpack(t))",
            "return coroutine.wrap(function() return redis.call('rpush', KEYS[1], unpack(t)) end)()"})
    void oneStringAsManyArguments_takesBoundedMemory(String call) {
        String repeat = "local s, t = string.rep('x', 1e6), {} for i = 1, 7000 do t[i] = s end ";
        assertThat(eval(repeat + call, "1", "key")).startsWith("-ERR").contains("not enough memory");
        assertThat(eval(repeat + "return redis.call('rpush', KEYS[1], unpack(t, 1, 3))", "1", "key"))
                .isEqualTo(":3\r\n");
    }

    @Test
    void aReplyOfManySmallTables_takesBoundedMemory() {
        // The reply has fewer bytes than the limit, and the tables that it becomes have many times as much.
        try (CommandHarness small = new CommandHarness(ServerConfig.defaults().with("maxmemory", "64mb"))) {
            LuaPool pool = small.server().scripting().memory(false);
            assertThat(pool.take(pool.free() - (2 << 20))).isTrue();
            assertThat(small.run("EVAL", "for i = 1, 60000 do redis.call('xadd', KEYS[1], i, 'f', 'v') end", "1", "s"))
                    .isEqualTo("$-1\r\n");
            String read = "return #redis.call('xrange', KEYS[1], '-', '+', 'COUNT', ARGV[1])";
            assertThat(small.run("EVAL", read, "1", "s", "1000")).isEqualTo(":1000\r\n");
            long before = allocatedBytes();
            assertThat(small.run("EVAL", read, "1", "s", "60000")).startsWith("-ERR not enough memory");
            assertThat(allocatedBytes() - before).isLessThan(16 << 20);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void argumentsTogether_takeBoundedMemory(boolean areTooMany) {
        try (CommandHarness small = new CommandHarness(ServerConfig.defaults().with("maxmemory", "64mb"))) {
            long limit = 2 << 20;
            LuaPool pool = small.server().scripting().memory(false);
            assertThat(pool.take(pool.free() - limit)).isTrue();
            String[] command = new String[3 + 30];
            Arrays.fill(command, "x".repeat((int) (areTooMany ? limit / 29 : limit / 32)));
            command[0] = "EVAL";
            command[1] = "return #ARGV";
            command[2] = "0";
            for (int i = 0; i < 5; i++) {
                assertThat(small.run(command)).startsWith(areTooMany ? "-ERR not enough memory" : ":30\r\n");
            }
        }
    }

    /** The bytes that the thread has allocated so far. */
    private static long allocatedBytes() {
        return ((com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean())
                .getCurrentThreadAllocatedBytes();
    }

    @Test
    void errorsOfScripts_areCountedByShortPrefixes() {
        for (String error : List.of("MINE failed", "nospace", "x".repeat(30) + " y", "z".repeat(31) + " y")) {
            eval("return {err = '" + error + "'}", "0");
        }
        assertThat(harness.run("INFO", "errorstats")).endsWith("\r\n# Errorstats\r\nerrorstat_ERR:count=2\r\n"
                + "errorstat_MINE:count=1\r\nerrorstat_" + "x".repeat(30) + ":count=1\r\n\r\n");
    }

    @Test
    void oneStringAsManyPartsOfALogLine_isCut() {
        Logger log = (Logger) LoggerFactory.getLogger("io.varve.server.scripts");
        ListAppender<ILoggingEvent> lines = new ListAppender<>();
        lines.start();
        log.addAppender(lines);
        log.setAdditive(false);
        try {
            eval("local s, t = string.rep('x', 1e6), {} for i = 1, 7000 do t[i] = s end redis.log(3, unpack(t))", "0");
            assertThat(lines.list).hasSize(1);
            assertThat(lines.list.getFirst().getFormattedMessage()).hasSize((64 << 10) + 3).endsWith("xx...");
        } finally {
            log.setAdditive(true);
            log.detachAppender(lines);
        }
    }

    @Test
    void garbage_isNotBounded() {
        assertThat(
                eval("local n = 0 for i = 1, 300000 do local s = string.rep('x', 1000) n = n + #s end return n", "0"))
                .isEqualTo(":300000000\r\n");
    }

    @Test
    void writesBeyondMemory_areRefused_andReadsAreNot() {
        try (CommandHarness small = new CommandHarness(ServerConfig.defaults().with("maxmemory", "8mb")
                .with("shards", "1").with("maxmemory-policy", "noeviction"))) {
            String fill = "for i = 1, 1e9 do redis.call('set', KEYS[1] .. i, string.rep('x', 10000)) end";
            assertThat(small.run("EVAL", fill, "1", "key"))
                    .startsWith("-OOM command not allowed when used memory > 'maxmemory'.");
            assertThat(small.run("EVAL", "return redis.call('strlen', 'key1')", "0")).isEqualTo(":10000\r\n");
            assertThat(small.run("EVAL", "return redis.pcall('set', 'other', string.rep('x', 1000000)).err", "0"))
                    .contains("OOM");
        }
    }

    @Test
    void changesOfAScript_evictOthers() {
        try (CommandHarness small = new CommandHarness(ServerConfig.defaults().with("maxmemory", "8mb")
                .with("shards", "1").with("maxmemory-policy", "allkeys-lru"))) {
            for (int i = 0; i < 3000; i++) {
                assertThat(
                        small.run("EVAL", "return redis.call('set', KEYS[1], string.rep('x', 10000))", "1", "key" + i))
                        .isEqualTo("+OK\r\n");
            }
        }
    }

    @Test
    void aReplyThatNeverEnds_isKilled() {
        SettableTicker clock = new SettableTicker(1);
        AtomicReference<CommandHarness> killed = new AtomicReference<>();
        try (CommandHarness slow = new CommandHarness(ServerConfig.defaults().with("maxmemory", "64mb")
                .with("busy-reply-threshold", "100"), clock,
                () -> Objects.requireNonNull(killed.get()).server().scripting().running().kill(false))) {
            killed.set(slow);
            for (String value : List.of("1", "string.rep('x', 1e5)", "{err = string.rep('x', 1e5)}")) {
                String script = "local t = " + value + " for i = 1, 100 do t = {t, t} end return t";
                assertThat(slow.runBatch(List.of(new String[] {"PING"}, new String[] {"EVAL", script, "0"},
                        new String[] {"PING"})))
                        .matches("\\+PONG\r\n-ERR Script killed by user with SCRIPT KILL\\.\\.\\. script:"
                                + " [0-9a-f]+\\.\r\n\\+PONG\r\n");
            }
        }
    }

    @Test
    void aReply_hasALimit() {
        try (CommandHarness small = new CommandHarness(ServerConfig.defaults().with("maxmemory", "64mb"))) {
            LuaPool pool = small.server().scripting().memory(false);
            assertThat(pool.take(pool.free() - (2 << 20))).isTrue();
            String script = "local t = string.rep('x', 1e5) for i = 1, 20 do t = {t, t} end return t";
            assertThat(small.run("EVAL", script, "0")).startsWith("-ERR the reply of the script has more than ");
            assertThat(small.run("PING")).isEqualTo("+PONG\r\n");
        }
    }

    @Test
    void keysThatItDoesNotDeclare() {
        harness.run("SET", "a", "1");
        assertThat(eval("local r = {} for i = 1, 100 do r[i] = redis.call('incr', 'a' .. i % 10) end return #r", "0"))
                .isEqualTo(":100\r\n");
        assertThat(harness.run("GET", "a3")).isEqualTo("$2\r\n10\r\n");
    }

    @Test
    void inFullMemory_aScriptEvictsUnderItsLocks() {
        try (CommandHarness full = new CommandHarness(ServerConfig.defaults().with("maxmemory", "16mb")
                .with("shards", "4").with("maxmemory-policy", "allkeys-lru"))) {
            String script = """
                    for i = 1, 300 do
                        redis.call('set', ARGV[1] .. i, string.rep('y', tonumber(ARGV[2])))
                        redis.call('rpush', KEYS[1] or 'list', string.rep('y', 100))
                        redis.call('hset', 'hash' .. ARGV[1], i, i)
                    end
                    return 'done'""";
            for (int round = 0; round < 40; round++) {
                String bytes = Integer.toString(100 << round % 11);
                assertThat(full.run("EVAL", script, "0", "a" + round + ":", bytes)).isEqualTo("$4\r\ndone\r\n");
                assertThat(full.run("EVAL", script, "1", "key", "b" + round + ":", bytes)).startsWith("$4");
                assertThat(full.cache().checkIntegrity()).isEmpty();
            }
            assertThat(full.cache().stats().evicted()).isPositive();
        }
    }
}
