package io.varve.server.differential.random.lua;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Draws random Lua programs: arithmetic, strings, tables, functions, loops, errors, and the libraries of Redis. A
 * program returns texts, so that no digit of a number is lost. Confined to the test's thread.
 *
 * <p>It draws nothing that depends on addresses, times or the state of earlier programs, no error table without a
 * message (Redis 7.0 crashes), and no work without a small bound.
 */
public final class RandomLua {
    private static final String HEAD = "local r = {} local function s(v) if type(v) == 'table' then return 'table:' .. #v"
            + " elseif type(v) == 'function' then return 'function' else return type(v) .. ':' .. tostring(v) end end "
            + "local function add(...) for i = 1, select('#', ...) do r[#r + 1] = s((select(i, ...))) end end ";
    private static final String[] NUMBERS = {"1", "-1", "2", "3", "7", "10", "0.1", "0.5", "1e15", "1e14", "1e100",
            "-3.75", "2^53", "123456789012", "1e-5", "255", "1/0", "3.14159265358979", "100", "0x10", "5e-324", "0",
            "-0"};
    private static final String[] STRINGS = {"''", "'a'", "'abc'", "'hello world'", "'a,b,,c'", "'10'", "' 7 '",
            "'0x1F'",
            "'1e2'", "'%d'", "'x\\0y'", "'\\255\\n\"'", "'(%a+)'", "'[[long]]'", "'aXbXc'", "'key=value'", "'nan'"};
    private static final String[] PATTERNS = {"'%a+'", "'(%w+)=(%w+)'", "'.'", "'%s*'", "'[a-c]+'", "'^a'", "'c$'",
            "'(a)(b)'", "'%d'", "'.-b'", "'%b()'", "'()'", "'[^,]*'", "'%f[%w]%w+'", "'x*'", "'a?b'", "'%'", "'[a'",
            "'(a'", "'%z'"};
    private static final String[] FORMATS = {"'%d'", "'%5d|'", "'%-5d|'", "'%05d'", "'%x'", "'%X'", "'%o'", "'%c'",
            "'%e'", "'%.3f'", "'%g'", "'%.14g'", "'%.17g'", "'%+d'", "'% d'", "'%#x'", "'%i'", "'%u'", "'%%'",
            "'%10.2f'"};

    private final SplittableRandom random;
    private int variables;

    public RandomLua(SplittableRandom random) {
        this.random = random;
    }

    public String program() {
        variables = 0;
        StringBuilder text = new StringBuilder(HEAD);
        for (int i = 1 + random.nextInt(6); i > 0; i--) {
            text.append(statement(2)).append(' ');
        }
        return text.append(random.nextInt(6) == 0 ? "return unpack(r)" : "return r").toString();
    }

    private String one(String... choices) {
        return choices[random.nextInt(choices.length)];
    }

    private String statement(int depth) {
        return switch (random.nextInt(depth > 0 ? 16 : 6)) {
            case 0, 1 -> "add(" + any(3) + ")";
            case 2 -> "add(" + any(2) + ", " + any(2) + ")";
            case 3 -> "add(pcall(function() return " + any(3) + " end))";
            case 4 -> library();
            case 5 -> "add(" + bool(2) + ")";
            case 6 -> "for i = " + (random.nextInt(7) - 3) + ", " + random.nextInt(6) + one("", ", 2", ", -1", ", 0.5")
                    + " do add(i) " + statement(depth - 1) + " end";
            case 7 -> "if " + bool(2) + " then " + statement(depth - 1) + one(" end", " else " + statement(depth - 1)
                    + " end", " elseif " + bool(1) + " then " + statement(depth - 1) + " end");
            case 8 -> {
                String name = "v" + variables++;
                yield "local " + name + " = " + any(3) + " add(" + name + ")";
            }
            case 9 -> "for k, v in ipairs({" + list() + "}) do add(k, v) end";
            case 10 -> "for k, v in pairs({" + list() + ", x = " + any(1) + ", y = " + any(1) + "}) do add(k, v) end";
            case 11 -> "local n = 0 while n < " + random.nextInt(5) + " do n = n + 1 if n == 3 then break end "
                    + statement(depth - 1) + " end add(n)";
            case 12 -> "local function f(a, b, ...) if a and #r < 40 then " + statement(depth - 1)
                    + " end return b, ... end add(f(" + any(1) + ", " + any(2) + ", " + any(1) + "))";
            case 13 -> "local t = {" + list() + "} " + tableWork();
            case 14 ->
                "for a, b in string.gmatch(" + string(2) + ", " + one(PATTERNS) + ") do add(a, b) if #r > 60 then"
                        + " break end end";
            default -> "add(pcall(function() error(" + one("'x'", "'x', 0", "'x', 2", "42", "nil") + ") end))";
        };
    }

    private String list() {
        List<String> items = new ArrayList<>();
        for (int i = random.nextInt(5); i >= 0; i--) {
            items.add(any(1));
        }
        return String.join(", ", items);
    }

    private String tableWork() {
        return switch (random.nextInt(8)) {
            case 0 -> "table.insert(t, " + any(1) + ") add(#t)";
            case 1 -> "add(table.remove(t), #t)";
            case 2 -> "add(pcall(table.sort, t)) for i = 1, #t do add(t[i]) end";
            case 3 -> "add(pcall(table.concat, t, " + string(1) + "))";
            case 4 -> "t[#t + 1] = " + any(1) + " t[1] = nil add(#t, t[1], t[2])";
            case 5 -> "add(unpack(t, 1, " + random.nextInt(5) + "))";
            case 6 -> "local m = setmetatable({}, {__index = t, __add = function(a, b) return " + any(1)
                    + " end, __tostring = function() return 'm' end}) add(m[1], pcall(function() return m + 1 end)) "
                    + "add(tostring(m))";
            default -> "add(next({}), select('#', unpack(t)), table.maxn(t))";
        };
    }

    private String library() {
        return switch (random.nextInt(12)) {
            case 0, 1 -> "add(pcall(cjson.encode, {" + list() + "}))";
            case 2 -> "add(pcall(cjson.encode, {a = " + any(1) + "}))";
            case 3 -> "add(pcall(function() local d = cjson.decode("
                    + one("'[1,2.5,null,\"x\"]'", "'{\"a\":{}}'", "'[]'",
                            "'x'", "'[1,'", "'\"\\\\u00e9\"'", "'1e3'", "'true'")
                    + ") return d, type(d) == 'table' and d[1] end))";
            case 4 ->
                "add(pcall(function() return cmsgpack.unpack(cmsgpack.pack(" + any(1) + ", " + any(1) + ")) end))";
            case 5 -> "add((string.gsub(cmsgpack.pack({" + list() + "}), '.', function(c) return string.byte(c) .. ' ' "
                    + "end)))";
            case 6 ->
                "add(pcall(function() return struct.unpack(" + one("'>I2'", "'<i4'", "'b'", "'>d'", "'s'", "'>I2b'")
                        + ", struct.pack(" + one("'>I2'", "'<i4'", "'b'", "'>d'", "'>I2b'") + ", " + number(1) + ", "
                        + number(1) + ")) end))";
            case 7 -> "add(bit." + one("band", "bor", "bxor", "lshift", "rshift", "arshift", "rol", "ror") + "("
                    + one("5", "255", "-1", "1e9", "3.7") + ", " + one("1", "4", "31", "-2") + "))";
            case 8 -> "add(bit.tohex(" + one("255", "-1", "1e9") + one("", ", 4", ", -8", ", 0") + "), bit.bnot("
                    + one("0", "-1", "7") + "), bit.bswap(305419896))";
            case 9 -> "add(redis.sha1hex(" + string(2) + "))";
            case 10 ->
                "math.randomseed(" + random.nextInt(5) + ") add(math.random(), math.random(10), math.random(5, 9))";
            default -> "add(" + one("math.pi", "math.huge", "math.fmod(7, 3)", "math.modf(-3.7)", "math.ldexp(1, 4)",
                    "math.frexp(10)", "math.sqrt(2)", "math.log10(1000)", "math.ceil(-0.5)", "math.deg(math.pi)") + ")";
        };
    }

    private String any(int depth) {
        return switch (random.nextInt(10)) {
            case 0, 1, 2, 3 -> number(depth);
            case 4, 5, 6 -> string(depth);
            case 7 -> bool(depth - 1);
            case 8 -> one("nil", "true", "false", "{}", "{1, 2}");
            default -> depth > 0 ? "(" + any(depth - 1) + one(" and ", " or ") + any(depth - 1) + ")" : "nil";
        };
    }

    private String number(int depth) {
        if (depth <= 0) {
            return one(NUMBERS);
        }
        return switch (random.nextInt(11)) {
            case 0, 1 -> one(NUMBERS);
            case 2, 3, 4 -> "(" + number(depth - 1) + one(" + ", " - ", " * ", " / ", " % ") + number(depth - 1) + ")";
            case 5 -> "-" + number(depth - 1);
            case 6 -> "math." + one("floor", "ceil", "abs") + "(" + number(depth - 1) + ")";
            case 7 -> "math." + one("max", "min") + "(" + number(depth - 1) + ", " + number(depth - 1) + ")";
            case 8 -> "#" + string(depth - 1);
            case 9 -> "(tonumber(" + string(depth - 1) + one("", ", 16", ", 2") + ") or 0)";
            default -> "(" + number(0) + " ^ " + one("2", "0.5", "-1", "3") + ")";
        };
    }

    private String string(int depth) {
        if (depth <= 0) {
            return one(STRINGS);
        }
        return switch (random.nextInt(13)) {
            case 0, 1 -> one(STRINGS);
            case 2, 3 -> "(" + string(depth - 1) + " .. " + one(string(depth - 1), number(0)) + ")";
            case 4 -> "tostring(" + one(number(depth - 1), bool(0), "nil") + ")";
            case 5 -> "string.format(" + one(FORMATS) + ", " + number(depth - 1) + ")";
            case 6 -> "string.format(" + one("'%s'", "'%q'", "'%5s|'", "'%-5s|'", "'%.2s'") + ", " + string(depth - 1)
                    + ")";
            case 7 -> "string.rep(" + string(depth - 1) + ", " + random.nextInt(4) + ")";
            case 8 -> "string.sub(" + string(depth - 1) + ", " + (random.nextInt(9) - 4) + one("", ", 2", ", -2", ", 9")
                    + ")";
            case 9 -> "string." + one("upper", "lower", "reverse") + "(" + string(depth - 1) + ")";
            case 10 -> "(string.gsub(" + string(depth - 1) + ", " + one(PATTERNS) + ", " + one("'<%0>'", "'%1'", "''",
                    "string.upper", "{a = 'A', b = false}", "'%9'", "'%'") + one("", ", 1", ", 2") + "))";
            case 11 -> "tostring(string." + one("find", "match") + "(" + string(depth - 1) + ", " + one(PATTERNS)
                    + one("", ", 2", ", -1") + "))";
            default -> "string.char(" + one("65", "0", "255, 10", "104, 105") + ")";
        };
    }

    private String bool(int depth) {
        if (depth <= 0) {
            return one("true", "false", "nil");
        }
        return switch (random.nextInt(6)) {
            case 0 -> "(" + number(depth - 1) + one(" < ", " <= ", " > ", " >= ", " == ", " ~= ") + number(depth - 1)
                    + ")";
            case 1 -> "(" + string(depth - 1) + one(" < ", " <= ", " == ", " ~= ") + string(depth - 1) + ")";
            case 2 -> "(" + any(depth - 1) + one(" == ", " ~= ") + any(depth - 1) + ")";
            case 3 -> "not " + any(depth - 1);
            case 4 -> "(" + any(depth - 1) + one(" < ", " >= ") + any(depth - 1) + ")";
            default -> "rawequal(" + any(0) + ", " + any(0) + ")";
        };
    }
}
