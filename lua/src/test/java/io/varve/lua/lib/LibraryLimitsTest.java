package io.varve.lua.lib;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;

import io.varve.lua.LuaError;
import io.varve.lua.LuaKilled;
import io.varve.lua.LuaLimits;
import io.varve.lua.LuaNumber;
import io.varve.lua.LuaState;
import io.varve.lua.LuaString;
import io.varve.lua.LuaTable;
import io.varve.lua.NativeFunction;
import io.varve.lua.lib.format.JsonLibrary;
import io.varve.lua.lib.format.MessagePackLibrary;
import io.varve.lua.lib.format.StructLibrary;
import io.varve.lua.lib.string.StringLibrary;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What no library function may do: take memory or time without bound, or overflow the stack. */
class LibraryLimitsTest {
    private static final long LIMIT = 8L << 20;

    private final LuaState lua = new LuaState(new LuaLimits(LIMIT, 640 << 10, 64));
    private final AtomicLong checks = new AtomicLong();

    LibraryLimitsTest() {
        StringLibrary.install(lua, lua.globals());
        TableLibrary.install(lua, lua.globals());
        StructLibrary.install(lua, lua.globals());
        JsonLibrary.install(lua, lua.globals());
        MessagePackLibrary.install(lua, lua.globals());
        BitLibrary.install(lua, lua.globals());
        lua.watch(checks::incrementAndGet);
    }

    @Test
    void rep_huge_isRefused() {
        assertNotEnoughMemory("string", "rep", "x", 1e9);
        assertNotEnoughMemory("string", "rep", text(1000), 2e9);
        assertThat(call("string", "rep", "", 2e9)).isEqualTo(LuaString.EMPTY);
        assertThat(call("string", "rep", "ab", 3)).isEqualTo(LuaString.of("ababab"));
        for (int length = 1; length < 20; length++) {
            for (int count = 1; count < 20; count++) {
                String source = "abcdefghijklmnopqrst".substring(0, length);
                assertThat(call("string", "rep", source, count)).isEqualTo(LuaString.of(source.repeat(count)));
            }
        }
    }

    @Test
    void gsub_hugeResult_isRefused() {
        assertNotEnoughMemory("string", "gsub", text(100_000), ".", text(10_000));
        assertNotEnoughMemory("string", "gsub", text(100_000), ".", "%0".repeat(1000));
        NativeFunction large = new NativeFunction((state, arguments) -> LuaString.of(text(100_000)));
        assertNotEnoughMemory("string", "gsub", text(100_000), ".", large);
    }

    @Test
    void captures_huge_areRefused() {
        // 32 captures of one string take 32 times its memory.
        assertNotEnoughMemory("string", "match", text(1 << 20), "(".repeat(32) + ".*" + ")".repeat(32));
        assertThat(call("string", "match", text(1000), "(".repeat(32) + ".*" + ")".repeat(32))).isNotNull();
    }

    @Test
    void concat_hugeResult_isRefused() {
        LuaTable table = lua.newTable();
        LuaString item = LuaString.of(text(1 << 20));
        for (int i = 1; i <= 1000; i++) {
            table.set(i, item);
        }
        assertNotEnoughMemory("table", "concat", table);
    }

    @Test
    void format_hugeResult_isRefused() {
        Object[] arguments = new Object[1001];
        arguments[0] = LuaString.of("%s".repeat(1000));
        Arrays.fill(arguments, 1, arguments.length, LuaString.of(text(100_000)));
        assertNotEnoughMemory("string", "format", arguments);
    }

    @Test
    void json_manyTables_areRefused() {
        assertNotEnoughMemory("cjson", "decode", "[" + "{},".repeat(1_000_000) + "{}]");
        assertNotEnoughMemory("cjson", "decode", "{\"a\":[" + "[1],".repeat(1_000_000) + "{}]}");
        // The state has forgotten what it refused.
        assertThat(call("cjson", "decode", "[1]")).isInstanceOf(LuaTable.class);
        assertThat(lua.measure()).isLessThan(1 << 20);
    }

    @Test
    void json_valueThatSharesTables_isRefusedAsText() {
        assertNotEnoughMemory("cjson", "encode", shared(30));
        assertNotEnoughMemory("cmsgpack", "pack", shared(14, 8));
    }

    @Test
    void json_sparseArray_isRefusedAsText() {
        assertThat(call("cjson", "encode_sparse_array", true, 0)).isNotNull();
        LuaTable sparse = lua.newTable();
        sparse.set((Object) 2e9, true);
        assertNotEnoughMemory("cjson", "encode", sparse);
    }

    @Test
    void json_anyDepth_doesNotOverflow() {
        call("cjson", "decode_max_depth", 2e9);
        call("cjson", "encode_max_depth", 2e9);
        assertError("Found too many nested data structures (7999) at character 7999", "cjson", "decode",
                "[".repeat(1_000_000));
        LuaTable nested = lua.newTable();
        LuaTable inner = nested;
        for (int i = 0; i < 10_000; i++) {
            LuaTable next = lua.newTable();
            inner.set(1, next);
            inner = next;
        }
        assertError("Cannot serialise, excessive nesting (7998)", "cjson", "encode", nested);
        LuaTable cycle = lua.newTable();
        cycle.set(1, cycle);
        assertError("Cannot serialise, excessive nesting (7998)", "cjson", "encode", cycle);
        lua.endRun();
        assertError("Cannot serialise, excessive nesting (1001)", "cjson", "encode", cycle);
    }

    @Test
    void messagePack_manyTables_areRefused() {
        assertNotEnoughMemory("cmsgpack", "unpack",
                "\u00dd\u0000\u00ff\u00ff\u00ff" + "\u0090".repeat(1_000_000));
        assertThat(lua.measure()).isLessThan(1 << 20);
    }

    /** CVE-2018-11218: a deep value overflowed the stack. */
    @Test
    void messagePack_anyDepth_doesNotOverflow() {
        assertError("stack overflow (in function mp_decode_to_lua_array)", "cmsgpack", "unpack",
                "\u0091".repeat(1_000_000));
        assertError("stack overflow (too many return values at once; use unpack_one or unpack_limit instead.)",
                "cmsgpack", "unpack", "\u0081\u0001".repeat(1_000_000));
        assertError("stack overflow (too many return values at once; use unpack_one or unpack_limit instead.)",
                "cmsgpack", "unpack", "\u0001".repeat(8001));
        LuaTable cycle = lua.newTable();
        cycle.set(1, cycle);
        assertThat(call("cmsgpack", "pack", cycle)).isEqualTo(LuaString.of("\u0091".repeat(16) + "\u00c0"));
    }

    /** A length beyond the input is never allocated. */
    @Test
    void messagePack_lengthsBeyondTheInput_areRefused() {
        for (String text : new String[] {"\u00db\u00ff\u00ff\u00ff\u00ff", "\u00db\u007f\u00ff\u00ff\u00ffabc",
                "\u00dd\u00ff\u00ff\u00ff\u00ff", "\u00df\u00ff\u00ff\u00ff\u00ff\u0001\u0002", "\u00da\u00ff\u00ff",
                "\u00d9\u00ff"}) {
            assertError("Missing bytes in input.", "cmsgpack", "unpack", text);
        }
    }

    /** CVE-2018-11219 and CVE-2020-14147: sizes and positions overflowed. */
    @Test
    void struct_sizesThatOverflow_areRefused() {
        assertError("integral size overflow", "struct", "pack", "i2147483648", 1);
        assertError("integral size overflow", "struct", "unpack", "c99999999999", "abc");
        assertError("integral size 33 is larger than limit of 32", "struct", "pack", "i33", 1);
        assertError("integral size 2147483647 is larger than limit of 32", "struct", "size", "i2147483647");
        assertError("bad argument #2 to '?' (data string too short)", "struct", "unpack", "c2147483647", "abc");
        assertError("bad argument #2 to '?' (data string too short)", "struct", "unpack", "i", "abcdefgh", -3);
        assertError("bad argument #2 to '?' (data string too short)", "struct", "unpack", "i", "abcdefgh", -0x1p63);
        assertError("bad argument #2 to '?' (data string too short)", "struct", "unpack", "i", "abcdefgh", 0x1p62);
        assertError("bad argument #2 to '?' (data string too short)", "struct", "unpack", "dc0",
                "\0\0\0\0\0\0\u00f0\u00c1ab");
        assertThat(call("struct", "size", "c2147483647c2147483647c2147483647")).isEqualTo(3.0 * Integer.MAX_VALUE);
    }

    /** CVE-2024-31449: the smallest integer as a number of digits. */
    @Test
    void tohex_smallestInteger_hasEightDigits() {
        assertThat(call("bit", "tohex", -1, Integer.MIN_VALUE)).isEqualTo(LuaString.of("FFFFFFFF"));
        assertThat(call("bit", "tohex", -1, Integer.MAX_VALUE)).isEqualTo(LuaString.of("ffffffff"));
    }

    /** CVE-2021-32626: results beyond the stack. */
    @Test
    void bytes_moreThanTheStackHolds_areRefused() {
        assertError("stack overflow (string slice too long)", "string", "byte", text(8000), 1, -1);
        assertError("stack overflow (too many results)", "struct", "unpack", "b".repeat(9000), text(9000));
    }

    /** CVE-2025-46818: metatables of basic types could be changed. */
    @Test
    void stringMetatable_isReadOnly() {
        LuaTable metatable = lua.metatable(LuaString.EMPTY);
        assertThatThrownBy(() -> metatable.set(LuaString.of("__index"), lua.newTable())).isInstanceOf(LuaError.class)
                .hasMessage("Attempt to modify a readonly table");
        for (String library : new String[] {"string", "table", "struct", "cjson", "cmsgpack", "bit"}) {
            LuaTable table = (LuaTable) lua.globals().get(LuaString.of(library));
            assertThat(table.isReadOnly()).as(library).isTrue();
        }
    }

    @Test
    void patterns_ofExponentialTime_canBeKilled() {
        String[][] cases = {{text(30), "(.-)".repeat(25) + "y"}, {text(10_000), ".-".repeat(40) + "y"},
                {text(5000), "x*".repeat(30) + "y"}, {text(100_000), "[" + "a".repeat(100_000) + "]"},
                {text(200_000), "%bxy"}, {text(1000), "x?".repeat(1000) + "y"},
                {"x".repeat(200_000) + "y", "(x*)%1%1%1z"}};
        for (String[] each : cases) {
            killAfter(1000);
            assertThatThrownBy(() -> call("string", "gsub", each[0], each[1], "")).as(each[1].substring(0, 4))
                    .isInstanceOf(LuaKilled.class);
        }
    }

    @Test
    void patterns_ofAnyLength_doNotOverflow() {
        lua.watch(() -> {});
        assertError("pattern too complex", "string", "match", text(100_000), "x?".repeat(100_000));
        assertThat(call("string", "match", text(10_000), "x?".repeat(10_000))).isEqualTo(LuaString.of(text(10_000)));
        assertError("too many captures", "string", "match", "x", "(".repeat(100_000));
    }

    @Test
    void loopsInLibraries_canBeKilled() {
        killAfter(1000);
        assertThatThrownBy(() -> call("table", "insert", lua.newTable(), -2e9, 1)).isInstanceOf(LuaKilled.class);
        LuaTable large = lua.newTable();
        for (int i = 1; i <= 100_000; i++) {
            large.set(i, LuaNumber.box(i % 7));
        }
        killAfter(1000);
        assertThatThrownBy(() -> call("table", "sort", large)).isInstanceOf(LuaKilled.class);
        killAfter(1000);
        assertThatThrownBy(() -> call("string", "find", text(2_000_000), text(1_000_000) + "y", 1, true))
                .isInstanceOf(LuaKilled.class);
    }

    private void killAfter(int limit) {
        checks.set(0);
        lua.watch(() -> {
            if (checks.incrementAndGet() > limit) {
                throw new LuaKilled("killed");
            }
        });
    }

    /** Tables in tables, each one twice or more often. */
    private LuaTable shared(int depth) {
        return shared(depth, 2);
    }

    private LuaTable shared(int depth, int times) {
        LuaTable table = lua.newTable();
        table.set(1, LuaString.of("x"));
        for (int i = 0; i < depth; i++) {
            LuaTable next = lua.newTable();
            for (int j = 1; j <= times; j++) {
                next.set(j, table);
            }
            table = next;
        }
        return table;
    }

    private static String text(int length) {
        return "x".repeat(length);
    }

    private Object call(String library, String name, Object... arguments) {
        Object[] values = new Object[arguments.length];
        for (int i = 0; i < arguments.length; i++) {
            Object argument = arguments[i];
            values[i] = argument instanceof String text
                    ? LuaString.of(text)
                    : argument instanceof Integer integer ? LuaNumber.box(integer.doubleValue()) : argument;
        }
        Object function = ((LuaTable) lua.globals().get(LuaString.of(library))).get(LuaString.of(name));
        return LuaState.first(lua.call(function, values));
    }

    private void assertNotEnoughMemory(String library, String name, Object... arguments) {
        assertError("not enough memory", library, name, arguments);
    }

    private void assertError(String message, String library, String name, Object... arguments) {
        assertThatThrownBy(() -> call(library, name, arguments)).isInstanceOf(LuaError.class).hasMessage(message);
    }
}
