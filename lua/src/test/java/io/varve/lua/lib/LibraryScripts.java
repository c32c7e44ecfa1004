package io.varve.lua.lib;

import java.util.Random;

/** Random scripts that use the libraries. Confined to one thread. */
final class LibraryScripts {
    private static final String[] NUMBERS = {"0", "1", "2", "3", "-1", "5", "10", "0.5", "-2.5", "1e15", "2^31", "2^53",
            "1e100",
            "-1e-5", "255", "1/3", "100", "7", "-7", "0/0", "1/0", "-1/0", "123456789", "0x7fffffff", "4294967296"};
    private static final String[] STRINGS = {"''", "'a'", "'abc'", "'10'", "'0x10'", "' 5 '", "'hello world'",
            "'a\\0b'", "'%d'",
            "'\\255\\1'", "'a,b,c'", "'x=1'", "('ab'):rep(5)", "'ABC'", "'-3'", "'1e2'"};
    private static final String[] PATTERNS = {"'.'", "'%a+'", "'(%w)'", "'[a-c]'", "'%d*'", "'^a'", "'b$'", "'()'",
            "'%s'",
            "'(a)(b)'", "'%W'", "'.-'", "'[^,]+'", "''", "'%%'", "'('", "'%'", "'(%a)=(%d)'"};
    private final Random random;

    LibraryScripts(Random random) {
        this.random = random;
    }

    String script() {
        return random.nextInt(3) == 0 ? "return " + call() : random.nextBoolean() ? tableScript() : expressions();
    }

    private String expressions() {
        StringBuilder script = new StringBuilder("return ");
        for (int i = random.nextInt(3); i >= 0; i--) {
            script.append("pcall(function() return ").append(call()).append(" end)").append(i > 0 ? ", " : "");
        }
        return script.toString();
    }

    private String tableScript() {
        StringBuilder script = new StringBuilder(
                "local function s(v) return type(v) == 'table' and 'table' or tostring(v) end local t = ")
                .append(table(2)).append(' ');
        for (int i = random.nextInt(8); i > 0; i--) {
            script.append(switch (random.nextInt(9)) {
                case 0, 1 -> "table.insert(t, " + value(1) + ") ";
                case 2 -> "table.insert(t, " + small() + ", " + value(1) + ") ";
                case 3 -> "table.remove(t) ";
                case 4 -> "table.remove(t, " + small() + ") ";
                case 5 -> "t[" + small() + "] = " + value(1) + " ";
                case 6 -> "t[#t + 1] = " + value(0) + " ";
                case 7 -> "t[#t] = nil ";
                default -> "t[" + pick("'a'", "'b'", "'key'", "1.5", "-1", "true") + "] = " + value(1) + " ";
            });
        }
        if (random.nextInt(3) == 0) {
            script.append(pick("pcall(table.sort, t) ", "pcall(table.sort, t, function(a, b) return s(a) > s(b) end) ",
                    "pcall(table.sort, t, function(a, b) return #s(a) < #s(b) end) ",
                    "pcall(table.sort, t, function(a, b) return true end) "));
        }
        return script.append("return #t, ").append(pick("pcall(cjson.encode, t)", "cmsgpack.pack(t)", "table.maxn(t)",
                "pcall(table.concat, t, '-')", "pcall(unpack, t)", "pcall(table.concat, t, ',', 2, 4)", "next(t)",
                "select('#', unpack(t))")).toString();
    }

    private String call() {
        return switch (random.nextInt(24)) {
            case 0 -> "string.sub(" + string() + ", " + number() + ", " + number() + ")";
            case 1 -> "string.byte(" + string() + ", " + small() + ", " + small() + ")";
            case 2 -> "string.rep(" + string() + ", " + small() + ")";
            case 3 -> "string.find(" + string() + ", " + pattern() + ", " + small() + ")";
            case 4 -> "string.match(" + string() + ", " + pattern() + ")";
            case 5 -> "string.gsub(" + string() + ", " + pattern() + ", "
                    + pick("'<%0>'", "'%1'", "{a = 'A', b = 1}", "function(x, y) return y or x end", "string.upper",
                            "''", "5",
                            "function() return nil end", "false")
                    + ")";
            case 6 -> "string.format('" + format() + "', " + any() + ", " + any() + ")";
            case 7 -> "string." + pick("upper", "lower", "reverse", "len") + "(" + any() + ")";
            case 8 -> "math." + pick("floor", "ceil", "abs", "sqrt", "frexp", "modf", "max", "min", "deg", "rad") + "("
                    + any() + ")";
            case 9 -> "math." + pick("fmod", "max", "min", "ldexp", "pow") + "(" + number() + ", " + small() + ")";
            case 10 -> "bit." + pick("band", "bor", "bxor", "lshift", "rshift", "arshift", "rol", "ror", "tohex") + "("
                    + number() + ", " + number() + ")";
            case 11 -> "bit." + pick("tobit", "bnot", "bswap", "tohex") + "(" + any() + ")";
            case 12 -> "cjson.encode(" + value(3) + ")";
            case 13 -> "cjson.encode(cjson.decode(cjson.encode(" + value(3) + ")))";
            case 14 -> "cmsgpack.pack(" + value(3) + ", " + any() + ")";
            case 15 -> "cjson.encode({cmsgpack.unpack(cmsgpack.pack(" + value(2) + "))})";
            case 16 -> "tostring(" + number() + " " + pick("+", "-", "*", "/", "%", "^") + " " + number() + ")";
            case 17 -> "tonumber(" + any() + ", " + pick("10", "16", "2", "36", "nil") + ")";
            case 18 -> "struct.unpack('" + pick("b", ">h", "<i", "c0", "s", "bc0", ">I3", "d") + "', " + string() + ")";
            case 19 -> "struct.pack('" + pick("b", ">h", "<i", "c0", "s", ">I3", "d", "!4bi", "fs") + "', " + any()
                    + ", " + any()
                    + ")";
            case 20 -> "(function() math.randomseed(" + small() + ") return math.random(" + small()
                    + "), math.random() end)()";
            case 21 -> "table.concat({" + any() + ", " + any() + ", " + any() + "}, " + string() + ")";
            case 22 -> any() + " .. " + any();
            default -> "select(" + small() + ", " + any() + ", " + any() + ", " + any() + ")";
        };
    }

    private String format() {
        StringBuilder format = new StringBuilder();
        for (int i = random.nextInt(3); i >= 0; i--) {
            format.append(pick("%d", "%5d", "%-5d|", "%s", "%q", "%x", "%05.1f", "%g", "%.3s", "%c", "%i", "%e", "%10s",
                    "%%", "a", "%u",
                    "%.14g", "%+d", "%o", "%y"));
        }
        return format.toString();
    }

    private String value(int depth) {
        return depth > 0 && random.nextInt(3) == 0 ? table(depth - 1) : any();
    }

    private String table(int depth) {
        StringBuilder table = new StringBuilder("{");
        for (int i = random.nextInt(7); i > 0; i--) {
            table.append(switch (random.nextInt(6)) {
                case 0 -> pick("a", "b", "key", "name", "id", "x", "longer_name", "z9") + " = " + value(depth);
                case 1 -> "[" + pick("1", "2", "3", "7", "20", "'s'", "1.5", "2^40", "-1", "0") + "] = " + value(depth);
                case 2 -> random.nextInt(4) == 0 ? "nil" : value(depth);
                default -> value(depth);
            }).append(", ");
        }
        return table.append('}').toString();
    }

    private String any() {
        return switch (random.nextInt(8)) {
            case 0, 1, 2 -> number();
            case 3, 4, 5 -> string();
            case 6 -> pick("true", "false", "nil", "cjson.null");
            default -> small();
        };
    }

    private String number() {
        return pick(NUMBERS);
    }

    private String small() {
        return Integer.toString(random.nextInt(10) - 2);
    }

    private String string() {
        return pick(STRINGS);
    }

    private String pattern() {
        return pick(PATTERNS);
    }

    private String pick(String... values) {
        return values[random.nextInt(values.length)];
    }
}
