package io.varve.lua.lib;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Function;

import io.varve.lua.LuaError;
import io.varve.lua.LuaLimits;
import io.varve.lua.LuaNumber;
import io.varve.lua.LuaState;
import io.varve.lua.LuaString;
import io.varve.lua.LuaTable;
import io.varve.lua.Results;
import io.varve.lua.lib.format.JsonLibrary;
import io.varve.lua.lib.format.MessagePackLibrary;
import io.varve.lua.lib.format.StructLibrary;
import io.varve.lua.lib.string.StringLibrary;
import io.varve.lua.oracle.RedisOracle;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Functions with random arguments, called from Java, beside those of a real Redis: values, or the error. */
class LibraryDifferentialTest {
    private static final int BATCH = 50;
    private static final String SHOW = """
            local function show(ok, ...)
              if not ok then return 'error ' .. string.gsub(..., '^user_script:%d+: ', '') end
              local out = {}
              for i = 1, select('#', ...) do
                local v = select(i, ...)
                out[#out + 1] = type(v) .. ' ' .. tostring(v)
              end
              return table.concat(out, '\\n')
            end
            local out, n = {}, tonumber(ARGV[1])
            for i = 2, #ARGV, n do
              out[#out + 1] = show(pcall(run, ARGV[i], n > 1 and ARGV[i + 1], n > 2 and ARGV[i + 2]))
            end
            return out
            """;

    private final LuaState lua = new LuaState(LuaLimits.DEFAULTS);

    LibraryDifferentialTest() {
        StringLibrary.install(lua, lua.globals());
        StructLibrary.install(lua, lua.globals());
        JsonLibrary.install(lua, lua.globals());
        MessagePackLibrary.install(lua, lua.globals());
    }

    @Test
    void find_randomPatterns_sameResults() throws Exception {
        compare("return string.find(a, b)", random -> List.of(subject(random), pattern(random)),
                arguments -> call("string", "find", arguments));
    }

    @Test
    void gsub_randomPatterns_sameResults() throws Exception {
        compare("return string.gsub(a, b, c)",
                random -> List.of(subject(random), pattern(random), replacement(random)),
                arguments -> call("string", "gsub", arguments));
    }

    @Test
    void decode_randomJson_sameValues() throws Exception {
        compare("return cmsgpack.pack(cjson.decode(a))", random -> List.of(new JsonTexts(random).text()), arguments -> {
            Object decoded = call("cjson", "decode", arguments);
            return decoded instanceof LuaError ? decoded : call("cmsgpack", "pack", List.of(decoded));
        });
    }

    @Test
    void encode_randomValues_sameJson() throws Exception {
        compare("return cjson.encode(cmsgpack.unpack_one(a) and select(2, cmsgpack.unpack_one(a)))",
                random -> List.of(new MessagePackTexts(random).text(true)), arguments -> {
                    Object unpacked = call("cmsgpack", "unpack_one", arguments);
                    if (unpacked instanceof LuaError) {
                        return unpacked;
                    }
                    Object value = ((Results) unpacked).get(2);
                    return lua.call(function("cjson", "encode"), new Object[] {value});
                });
    }

    @Test
    void unpack_randomMessagePack_sameValues() throws Exception {
        isUnordered = true;
        compare("return cmsgpack.pack(cmsgpack.unpack(a))", random -> List.of(new MessagePackTexts(random).text(false)),
                arguments -> {
                    Object unpacked = call("cmsgpack", "unpack", arguments);
                    if (unpacked instanceof LuaError) {
                        return unpacked;
                    }
                    List<Object> values = new ArrayList<>();
                    if (unpacked instanceof Results results) {
                        for (int i = 1; i <= results.count(); i++) {
                            values.add(results.get(i));
                        }
                    } else {
                        values.add(unpacked);
                    }
                    return call("cmsgpack", "pack", values);
                });
    }

    @Test
    void struct_randomFormats_sameResults() throws Exception {
        compare("return struct.unpack(a, b, tonumber(c))",
                random -> List.of(structFormat(random), bytes(random, 40), Integer.toString(1 + random.nextInt(4))),
                arguments -> call("struct", "unpack", List.of(arguments.get(0), arguments.get(1),
                        LuaNumber.toNumber(arguments.get(2)))));
        compare("return struct.pack(a, b, c, b, c, b, c)",
                random -> List.of(structFormat(random), number(random), number(random)), arguments -> {
                    Object b = arguments.get(1);
                    Object c = arguments.get(2);
                    return call("struct", "pack", List.of(arguments.get(0), b, c, b, c, b, c));
                });
        compare("return struct.size(a)", random -> List.of(structFormat(random)),
                arguments -> call("struct", "size", arguments));
    }

    /** Tables as keys have no order. */
    private boolean isUnordered;

    private static String sorted(String text) {
        return text.chars().sorted()
                .collect(StringBuilder::new, (out, c) -> out.append((char) c), StringBuilder::append)
                .toString();
    }

    private Object function(String library, String name) {
        return ((LuaTable) lua.globals().get(LuaString.of(library))).get(LuaString.of(name));
    }

    private Object call(String library, String name, List<?> arguments) {
        try {
            return lua.call(function(library, name), arguments.toArray());
        } catch (LuaError error) {
            return error;
        }
    }

    private void compare(String script, Function<Random, List<String>> inputs, Function<List<LuaString>, Object> ours)
            throws IOException, InterruptedException {
        Random random = new Random(TestBudget.seed("varve.lua.seed"));
        int rounds = TestBudget.ofInt("varve.lua.calls", 100, 20_000);
        // Each result is a text: of all values with their types, or of the error without its position.
        String all = "local function run(a, b, c) " + script + " end\n" + SHOW;
        try (RedisOracle redis = RedisOracle.start()) {
            for (int round = 0; round < rounds; round++) {
                List<List<LuaString>> batch = new ArrayList<>();
                List<byte[]> arguments = new ArrayList<>();
                for (int i = 0; i < BATCH; i++) {
                    List<LuaString> input = inputs.apply(random).stream().map(LuaString::of).toList();
                    batch.add(input);
                    input.forEach(text -> arguments.add(text.array()));
                }
                arguments.addFirst(Integer.toString(batch.getFirst().size()).getBytes(StandardCharsets.ISO_8859_1));
                Object reply = redis.eval(all, arguments.toArray(byte[][]::new));
                List<?> expected = (List<?>) reply;
                for (int i = 0; i < BATCH; i++) {
                    String wanted = new String((byte[]) expected.get(i), StandardCharsets.ISO_8859_1);
                    List<LuaString> input = batch.get(i);
                    String shown;
                    try {
                        shown = show(ours.apply(input));
                    } catch (LuaError error) {
                        shown = show(error);
                    }
                    String ourText = shown.replaceAll(" to '\\?'", " to 'x'");
                    String text = wanted.replaceAll(" to '\\w+'", " to 'x'");
                    assertThat(isUnordered ? sorted(ourText) : ourText).as("%s with %s", script, hex(input))
                            .isEqualTo(isUnordered ? sorted(text) : text);
                }
                lua.endRun();
            }
        }
    }

    private static String hex(List<LuaString> input) {
        StringBuilder text = new StringBuilder();
        for (LuaString string : input) {
            text.append(text.isEmpty() ? "" : " ").append(java.util.HexFormat.of().formatHex(string.array()));
        }
        return text.toString();
    }

    private static String show(Object returned) {
        if (returned instanceof LuaError error) {
            return "error " + error.value();
        }
        if (returned instanceof Results results) {
            StringBuilder text = new StringBuilder();
            for (int i = 1; i <= results.count(); i++) {
                text.append(i == 1 ? "" : "\n").append(show(results.get(i)));
            }
            return text.toString();
        }
        return LuaState.typeName(returned) + " " + (returned == null
                ? "nil"
                : returned instanceof Boolean ? returned.toString() : LuaNumber.toLuaString(returned));
    }

    // ---- inputs -----------------------------------------------------------------------------------------------------

    private static String subject(Random random) {
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(14); i > 0; i--) {
            text.append("aabbc1 .()[]%-\0\u00e9A_".charAt(random.nextInt(18)));
        }
        return text.toString();
    }

    private static String pattern(Random random) {
        String[] items = {"a", "b", "c", ".", "%a", "%d", "%s", "%w", "%p", "%A", "%S", "%z", "%x", "%u", "%l", "%c",
                "%W",
                "[ab]", "[^a]", "[a-c]", "[%a_]", "[]]", "[^]]", "[a-]", "[%]]", "[^%s]", "%%", "%.", "%b()", "%f[%a]",
                "%f[^a]", "(", ")", "()", "(a)", "(.)", "(.-)", "(a*)", "%1", "%2", "$", "^", "\0", "%", "[", "]", "-",
                "%b", "%f", "1", "\u00e9", "[a-%z]", "[%", "[^"};
        String[] repeats = {"", "", "", "*", "+", "-", "?"};
        StringBuilder text = new StringBuilder(random.nextInt(6) == 0 ? "^" : "");
        for (int i = random.nextInt(5); i >= 0; i--) {
            text.append(items[random.nextInt(random.nextBoolean() ? 20 : items.length)])
                    .append(repeats[random.nextInt(repeats.length)]);
        }
        if (random.nextInt(6) == 0) {
            text.append('$');
        }
        return text.toString();
    }

    private static String replacement(Random random) {
        String[] parts = {"x", "%0", "%1", "%2", "%%", "%", "-", "%a", "\0"};
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(4); i > 0; i--) {
            text.append(parts[random.nextInt(random.nextInt(4) == 0 ? parts.length : 3)]);
        }
        return text.toString();
    }

    private static String structFormat(Random random) {
        String[] parts = {"b", "B", "h", "H", "l", "L", "T", "i", "I", "f", "d", "x", "s", ">", "<", "!", " ", "c",
                "c0",
                "c3", "i1", "i3", "I7", "i8", "i9", "I16", "i32", "i33", "!4", "!8", "!3", "!0", "!1", "z", "i0", "?",
                "c99",
                "i99999999999", "Bc0", "!2", "I5"};
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(6); i >= 0; i--) {
            text.append(parts[random.nextInt(random.nextInt(3) == 0 ? parts.length : 14)]);
        }
        return text.toString();
    }

    private static String bytes(Random random, int most) {
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(most); i > 0; i--) {
            text.append((char) (random.nextBoolean() ? random.nextInt(6) : random.nextInt(256)));
        }
        return text.toString();
    }

    private static String number(Random random) {
        String[] special = {"0", "-1", "255", "1e19", "-1e19", "1e30", "2^63", "9223372036854775808", "nan", "-nan",
                "inf",
                "-inf", "1.5", "-0.5", "65535", "4294967296", "0x10", "abc"};
        return random.nextBoolean()
                ? special[random.nextInt(special.length)]
                : Integer.toString(random.nextInt(2000) - 1000);
    }
}
