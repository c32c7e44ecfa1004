package io.varve.server.command.script;

import io.varve.server.command.CommandHarness;
import io.varve.server.config.ServerConfig;
import io.varve.server.rdb.Payloads;
import io.varve.server.testing.SettableTicker;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests FUNCTION and FCALL beyond what {@code CommandsDifferentialTest} and {@code FunctionsDifferentialTest} compare.
 * Confined to the test's thread.
 */
class FunctionCommandsTest {
    private static final String OK = "+OK\r\n";

    private final CommandHarness harness = new CommandHarness();

    @AfterEach
    void close() {
        harness.close();
    }

    private String load(String name, String code, String... options) {
        String[] words = new String[3 + options.length];
        words[0] = "FUNCTION";
        words[1] = "LOAD";
        System.arraycopy(options, 0, words, 2, options.length);
        words[2 + options.length] = "#!lua name=" + name + "\n" + code;
        return harness.run(words);
    }

    private static String function(String name, String body) {
        return "redis.register_function('" + name + "', function(keys, args) " + body + " end)\n";
    }

    /** Redis drops line ends behind an argument in errors that it formats; all others become spaces. */
    @Test
    void errors_ofArgumentsWithLineEnds() {
        assertThat(harness.run("FUNCTION", "LOAD", "a\r\nb\r\n", "x"))
                .isEqualTo("-ERR Unknown option given: a  b\r\n");
        assertThat(harness.run("EXPIRE", "k", "1", "a\nb\n")).isEqualTo("-ERR Unsupported option a b\r\n");
        assertThat(harness.run("FUNCTION", "LIST", "a\n")).isEqualTo("-ERR Unknown argument a \r\n");
    }

    @Test
    void aFunction_getsKeysAndArguments() {
        assertThat(load("lib", function("f", "return {keys, args}"))).isEqualTo("$3\r\nlib\r\n");
        assertThat(harness.run("FCALL", "f", "1", "a", "b")).isEqualTo("*2\r\n*1\r\n$1\r\na\r\n*1\r\n$1\r\nb\r\n");
    }

    @Test
    void capturedVariables_liveUntilTheLibraryIsReplaced() {
        String code = "local n = 0\n" + function("count", "n = n + 1 return n");
        load("lib", code);
        assertThat(harness.run("FCALL", "count", "0")).isEqualTo(":1\r\n");
        assertThat(harness.run("FCALL", "count", "0")).isEqualTo(":2\r\n");
        load("other", function("other", "return 1"));
        assertThat(harness.run("FCALL", "count", "0")).isEqualTo(":3\r\n");
        load("lib", code, "REPLACE");
        assertThat(harness.run("FCALL", "count", "0")).isEqualTo(":1\r\n");
    }

    @Test
    void aReplacedLibrary_losesItsOtherFunctions() {
        load("lib", function("f", "return 1") + function("g", "return 2"));
        load("lib", function("g", "return 3"), "REPLACE");
        assertThat(harness.run("FCALL", "f", "0")).isEqualTo("-ERR Function not found\r\n");
        assertThat(harness.run("FCALL", "g", "0")).isEqualTo(":3\r\n");
    }

    @Test
    void aFailedLoad_keepsTheOldLibrary() {
        load("lib", function("f", "return 1"));
        assertThat(load("lib", "redis.register_function('f', 1)", "REPLACE")).startsWith("-ERR");
        assertThat(load("lib", "local x =", "REPLACE")).startsWith("-ERR Error compiling function: user_function:2:");
        assertThat(load("other", function("F", "return 1"))).isEqualTo("-ERR Function F already exists\r\n");
        assertThat(harness.run("FCALL", "f", "0")).isEqualTo(":1\r\n");
    }

    @Test
    void namesThatDifferInCase_areOneName_inALibrary() {
        assertThat(load("lib", function("f", "return 1") + function("F", "return 2")))
                .isEqualTo("-ERR Error registering functions: ERR Function already exists in the library\r\n");
    }

    @Test
    void loading_hasLittleMemory() {
        assertThat(load("lib", "local s = 'x' while true do s = s .. s end")).contains("not enough memory");
        assertThat(load("lib", "local i = 0 while true do i = i + 1 redis.register_function('f' .. i, redis.log) end"))
                .contains("not enough memory");
    }

    @Test
    void libraries_haveLittleMemory() {
        String large = "-- " + "x".repeat(1 << 20) + "\n" + function("f", "return 1");
        String refused = "";
        for (int i = 0; i < 1000 && refused.isEmpty(); i++) {
            String reply = load("lib" + i, large.replace("'f'", "'f" + i + "'"));
            refused = reply.startsWith("-OOM ") ? reply : "";
        }
        assertThat(refused).startsWith("-OOM the memory for libraries is used up");
        assertThat(harness.run("FUNCTION", "FLUSH")).isEqualTo(OK);
        assertThat(load("lib", large)).isEqualTo("$3\r\nlib\r\n");
    }

    @Test
    void capturedVariables_haveLittleMemory() {
        load("lib", "local t = {}\n" + function("keep", "t[#t + 1] = ('x'):rep(1000000) .. #t return #t"));
        String reply = "";
        for (int i = 0; i < 100_000 && !reply.startsWith("-"); i++) {
            reply = harness.run("FCALL", "keep", "0");
        }
        assertThat(reply).startsWith("-ERR").contains("not enough memory");
        assertThat(harness.run("FUNCTION", "FLUSH")).isEqualTo(OK);
        load("lib", function("f", "return 1"));
        assertThat(harness.run("FCALL", "f", "0")).isEqualTo(":1\r\n");
    }

    @Test
    void scriptsAndFunctions_seeDifferentGlobals() {
        load("lib", function("f", "return KEYS") + function("g", "return redis.breakpoint"));
        assertThat(harness.run("EVAL", "return KEYS[1]", "1", "a")).isEqualTo("$1\r\na\r\n");
        assertThat(harness.run("FCALL", "f", "0")).startsWith("-ERR user_function:2: Script attempted to access"
                + " nonexistent global variable 'KEYS' script: f, on @user_function:2.");
        assertThat(harness.run("FCALL", "g", "0")).isEqualTo("$-1\r\n");
    }

    @Test
    void valkeysAlias_registersFunctions() {
        assertThat(load("lib", "server.register_function('f', function() return server.call('ping') end)"))
                .isEqualTo("$3\r\nlib\r\n");
        assertThat(harness.run("FCALL", "f", "0")).isEqualTo("+PONG\r\n");
    }

    @Test
    void codeThatNeverEnds_isNotRestored() {
        String endless = "#!lua name=lib\nwhile true do end";
        String expected = "-ERR Error registering functions: ERR FUNCTION LOAD timeout\r\n";
        try (CommandHarness timed = new CommandHarness(ServerConfig.defaults().with("maxmemory", "64mb"),
                new SettableTicker(1), () -> {})) {
            assertThat(timed.run("FUNCTION", "LOAD", endless)).isEqualTo(expected);
            assertThat(timed.run("FUNCTION", "RESTORE", Payloads.withFooter("\u00f5" + Payloads.texts(endless), 10)))
                    .isEqualTo(expected);
        }
    }

    @Test
    void aTransaction_loadsAndCalls() {
        harness.run("MULTI");
        load("lib", function("f", "return redis.call('incr', keys[1])"));
        harness.run("FCALL", "f", "1", "n");
        harness.run("FUNCTION", "FLUSH");
        harness.run("FCALL", "f", "1", "n");
        assertThat(harness.run("EXEC"))
                .isEqualTo("*4\r\n$3\r\nlib\r\n:1\r\n+OK\r\n-ERR Function not found\r\n");
    }

    @Test
    void statistics_countLibrariesAndFunctions() {
        load("lib", function("f", "return 1") + function("g", "return 2"));
        assertThat(harness.run("INFO", "memory")).contains("number_of_functions:2\r\n", "number_of_libraries:1\r\n");
        assertThat(harness.run("FUNCTION", "STATS")).contains("LUA\r\n", "libraries_count\r\n:1\r\n",
                "functions_count\r\n:2\r\n");
    }
}
