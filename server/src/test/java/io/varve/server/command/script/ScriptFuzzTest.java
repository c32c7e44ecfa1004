package io.varve.server.command.script;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

import io.varve.server.fuzz.FuzzCase;
import io.varve.server.fuzz.FuzzRun;
import io.varve.server.rdb.Payloads;
import io.varve.server.testing.RawReply;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Runs any bytes as scripts, as arguments of their libraries, and as libraries of functions: each command has one
 * well-formed reply, nothing fails inside the server, and the next script finds what the first one found. Confined to
 * the test's thread.
 *
 * <p>The lower four bits of the first byte say what the others are, and the fifth one, whether the client speaks RESP3:
 * {@code @} begins a script in RESP2, {@code P} one in RESP3. Where they are several words, a zero is between them.
 */
public class ScriptFuzzTest {
    private static final int KINDS = 16;
    private static final int RESP3 = 16;
    private static final int MAX_WORDS = 12;

    private static final String JSON = "local v = cjson.decode(ARGV[1]) local t = cjson.encode(v) cjson.decode(t)"
            + " return {t, v}";
    private static final String MESSAGE_PACK = "local r = {cmsgpack.unpack(ARGV[1])} cmsgpack.unpack(cmsgpack.pack("
            + "unpack(r))) return {r, {pcall(cmsgpack.unpack_one, ARGV[1], 1)}, {pcall(cmsgpack.unpack_limit, ARGV[1],"
            + " 2, 0)}}";
    private static final String STRUCT = "local r = {pcall(struct.unpack, ARGV[1], ARGV[2])} local b = {}"
            + " for i = 2, #r - 1 do b[#b + 1] = r[i] end return {r, {pcall(struct.pack, ARGV[1], unpack(b))},"
            + " {pcall(struct.pack, ARGV[1], ARGV[2], 1, -1, 2.5, ARGV[2])}, {pcall(struct.size, ARGV[1])}}";
    private static final String FORMAT = "local n = {} for i = 2, #ARGV do n[i - 1] = tonumber(ARGV[i]) or ARGV[i] end"
            + " return {{pcall(string.format, unpack(ARGV))}, {pcall(string.format, ARGV[1], unpack(n))},"
            + " {pcall(string.format, ARGV[1], 1, -2.5, 'a\\0b', 1e300, 0 / 0)}}";
    private static final String PATTERN = "local p, s, r = ARGV[1], ARGV[2] or ARGV[1], ARGV[3] or '%0'"
            + " local g = {} local ok, e = pcall(function() for a, b in string.gmatch(s, p) do g[#g + 1] = {a, b} end"
            + " end) return {{pcall(string.find, s, p)}, {pcall(string.match, s, p, -3)},"
            + " {pcall(string.gsub, s, p, r)}, {pcall(string.gsub, s, p, function(a) return a and a .. a end, 3)}, g,"
            + " e}";
    private static final String CALL = "local r = {{redis.pcall(unpack(ARGV))},"
            + " {pcall(redis.acl_check_cmd, unpack(ARGV))}} redis.setresp(3) r[3] = redis.pcall(unpack(ARGV))"
            + " redis.pcall('set', 'key', ARGV[2] or '') return r";
    private static final String LIBRARY = "local a = {} for i = 3, #ARGV do a[i - 2] = tonumber(ARGV[i]) or ARGV[i] end"
            + " local l = _G[ARGV[1]] or _G local f = l[ARGV[2]]"
            + " local r = {pcall(f, unpack(a))} return {r, {pcall(f, a)}, {pcall(f, {a, a}, unpack(a))}}";
    private static final String COROUTINE = "local f = assert(loadstring(ARGV[1])) local c = coroutine.create(f)"
            + " return {{coroutine.resume(c, 1)}, {coroutine.resume(c, 2)}, coroutine.wrap(f)(3), coroutine.status(c)}";
    private static final String PROTECTED = "local f = assert(loadstring(ARGV[1])) return {{pcall(f)}, {xpcall(f,"
            + " function(e) return {err = e} end)}, {pcall(setfenv or f, f, {})}}";
    private static final String ARITHMETIC = "local a, b, c = ARGV[1], ARGV[2] or '2', ARGV[3] local r = {tonumber(a),"
            + " tostring(tonumber(a)), {pcall(tonumber, a, tonumber(b))}, a < b, a .. b, #a} r[7] = {pcall(function()"
            + " return {a + b, a * b, a / b, a % b, a ^ b, -a} end)} r[8] = {pcall(function() return"
            + " string.rep(a, tonumber(b), c) end)} return r";

    private static ScriptSandbox sandbox;

    @BeforeAll
    public static void fuzzerInitialize() {
        sandbox = new ScriptSandbox();
    }

    @AfterAll
    public static void fuzzerTearDown() {
        sandbox.close();
    }

    @Test
    void anyScriptIsAnsweredAndLeavesNothing() {
        new FuzzRun(fuzzCase()).runFewer();
    }

    /** The target, for whatever drives it. */
    public static FuzzCase fuzzCase() {
        return new FuzzCase(ScriptFuzzTest.class, ScriptFuzzTest::fuzzerTestOneInput, ScriptSeeds.seeds(),
                ScriptSeeds.words());
    }

    public static void fuzzerTestOneInput(byte[] input) {
        if (input.length == 0) {
            return;
        }
        String rest = new String(input, 1, input.length - 1, StandardCharsets.ISO_8859_1);
        int kind = input[0] & KINDS - 1;
        sandbox.run((input[0] & RESP3) != 0, server -> run(server, kind, rest));
    }

    private static void run(ScriptSandbox server, int kind, String rest) {
        switch (kind) {
            case 0 -> server.reply("EVAL", rest, "2", "key", "other", "1", "argument");
            case 1 -> server.reply("EVAL_RO", rest, "1", "key", "7");
            case 2 -> inTransaction(server, rest);
            case 3 -> evaluate(server, JSON, rest);
            case 4 -> evaluate(server, MESSAGE_PACK, rest);
            case 5 -> evaluate(server, STRUCT, words(rest, 2));
            case 6 -> evaluate(server, FORMAT, words(rest, MAX_WORDS));
            case 7 -> evaluate(server, PATTERN, words(rest, 3));
            case 8 -> evaluate(server, CALL, words(rest, MAX_WORDS));
            case 9 -> evaluate(server, LIBRARY, words(rest, MAX_WORDS));
            case 10 -> {
                server.reply("FUNCTION", "LOAD", rest);
                useFunctions(server);
            }
            case 11 -> {
                server.reply("FUNCTION", "RESTORE", Payloads.withFooter(rest, 10));
                useFunctions(server);
            }
            case 12 -> evaluate(server, COROUTINE, rest);
            case 13 -> evaluate(server, PROTECTED, rest);
            case 14 -> evaluate(server, ARITHMETIC, words(rest, 3));
            default -> byDigest(server, rest);
        }
    }

    private static String[] words(String text, int max) {
        return text.split("\0", max);
    }

    private static void evaluate(ScriptSandbox server, String script, String... arguments) {
        String[] words = new String[3 + arguments.length];
        words[0] = "EVAL";
        words[1] = script;
        words[2] = "0";
        System.arraycopy(arguments, 0, words, 3, arguments.length);
        server.reply(words);
    }

    private static void inTransaction(ScriptSandbox server, String script) {
        server.done("MULTI");
        server.reply("EVAL", script, "1", "key");
        server.reply("INCR", "other");
        server.reply("EVAL", script, "0");
        RawReply replies = server.done("EXEC");
        assertThat(replies.elements()).hasSize(3);
    }

    private static void byDigest(ScriptSandbox server, String script) {
        RawReply loaded = server.one("SCRIPT", "LOAD", script);
        if (!loaded.isError()) {
            server.reply("EVALSHA", loaded.text(), "1", "key", "argument");
            server.reply("EVALSHA_RO", loaded.text(), "0");
            server.done("SCRIPT", "FLUSH");
        }
    }

    /** Calls the functions, and again after a copy of their libraries has replaced them. */
    private static void useFunctions(ScriptSandbox server) {
        server.done("FUNCTION", "LIST", "WITHCODE");
        server.callFunctions();
        RawReply dumped = server.done("FUNCTION", "DUMP");
        server.done("FUNCTION", "RESTORE", dumped.text(), "REPLACE");
        server.callFunctions();
        assertThat(server.done("FUNCTION", "DUMP").text()).isEqualTo(dumped.text());
    }

    /** The bytes that stand for a kind of input. */
    static char kind(int number) {
        return (char) ('@' + number);
    }

    static List<String> ofKind(int number, String... inputs) {
        return Arrays.stream(inputs).map(input -> kind(number) + input).toList();
    }
}
