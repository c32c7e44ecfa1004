package io.varve.lua.lib;

import java.util.Arrays;

import io.varve.lua.Arguments;
import io.varve.lua.LuaError;
import io.varve.lua.LuaFunction;
import io.varve.lua.LuaNumber;
import io.varve.lua.LuaState;
import io.varve.lua.LuaString;
import io.varve.lua.LuaTable;
import io.varve.lua.interpreter.LuaCompiler;
import io.varve.lua.lib.base.Library;

/** The functions without a table. Stateless. */
public final class BaseLibrary {
    private static final LuaString PROTECTED = LuaString.known("__metatable");
    private static final LuaString ERR = LuaString.known("err");
    private static final LuaString VERSION = LuaString.known("Lua 5.1");
    private static final LuaString COLLECT = LuaString.known("collect");
    private static final int MAX_UNPACKED = 8000;
    private static final int MAX_SOURCE = 1 << 20;
    private static final String[] COLLECT_OPTIONS = {"stop", "restart", "collect", "count", "step", "setpause",
            "setstepmul"};

    private BaseLibrary() {}

    /** Sets the globals. */
    public static void install(LuaState lua, LuaTable globals) {
        globals.put(LuaString.known("_G"), globals);
        globals.put(LuaString.known("_VERSION"), VERSION);
        Library.register(globals, "assert", BaseLibrary::assertTrue);
        Library.register(globals, "collectgarbage", BaseLibrary::collectGarbage);
        Library.register(globals, "error", BaseLibrary::error);
        Library.register(globals, "gcinfo", (state, arguments) -> kilobytes(state));
        Library.register(globals, "getmetatable", BaseLibrary::getMetatable);
        Library.register(globals, "setmetatable", BaseLibrary::setMetatable);
        Library.register(globals, "load", BaseLibrary::load);
        Library.register(globals, "loadstring", BaseLibrary::loadString);
        Library.register(globals, "pcall", BaseLibrary::pcall);
        Library.register(globals, "xpcall", BaseLibrary::xpcall);
        Library.register(globals, "rawequal", BaseLibrary::rawEqual);
        Library.register(globals, "rawget", BaseLibrary::rawGet);
        Library.register(globals, "rawset", BaseLibrary::rawSet);
        Library.register(globals, "select", BaseLibrary::select);
        Library.register(globals, "tonumber", BaseLibrary::toNumber);
        Library.register(globals, "tostring", (state, arguments) -> state.tostring(arguments.checkAny(1)));
        Library.register(globals, "type",
                (state, arguments) -> LuaString.known(LuaState.typeName(arguments.checkAny(1))));
        Library.register(globals, "unpack", BaseLibrary::unpack);
        Iterators.install(globals);
    }

    private static Object assertTrue(LuaState lua, Arguments arguments) {
        if (!LuaState.isTrue(arguments.checkAny(1))) {
            LuaString message = arguments.optString(2, null);
            throw arguments.error(message == null ? "assertion failed!" : message.toString());
        }
        return lua.results(arguments.array(), arguments.offset(), arguments.count());
    }

    private static Object collectGarbage(LuaState lua, Arguments arguments) {
        return switch (COLLECT_OPTIONS[arguments.checkOption(1, COLLECT, COLLECT_OPTIONS)]) {
            case "count" -> kilobytes(lua);
            case "step" -> true;
            case "setpause", "setstepmul" -> LuaNumber.box(200);
            default -> LuaNumber.box(0);
        };
    }

    private static Double kilobytes(LuaState lua) {
        return LuaNumber.box(lua.usedBytes() / 1024.0);
    }

    private static Object error(LuaState lua, Arguments arguments) {
        int level = arguments.optInt(2, 1);
        Object value = arguments.get(1);
        if (level > 0 && (value instanceof LuaString || value instanceof Double)) {
            throw new LuaError(arguments.where(level) + LuaNumber.text(value));
        }
        throw new LuaError(value);
    }

    private static Object getMetatable(LuaState lua, Arguments arguments) {
        LuaTable metatable = lua.metatable(arguments.checkAny(1));
        Object shown = metatable == null ? null : metatable.get(PROTECTED);
        return shown == null ? metatable : shown;
    }

    private static Object setMetatable(LuaState lua, Arguments arguments) {
        LuaTable table = arguments.checkTable(1);
        Object metatable = arguments.get(2);
        if (arguments.isNone(2) || metatable != null && !(metatable instanceof LuaTable)) {
            throw arguments.argumentError(2, "nil or table expected");
        }
        if (table.metatable() != null && table.metatable().get(PROTECTED) != null) {
            throw arguments.error("cannot change a protected metatable");
        }
        if (table.isReadOnly()) {
            throw new LuaError("Attempt to modify a readonly table");
        }
        table.metatable((LuaTable) metatable);
        return table;
    }

    // ---- chunks -----------------------------------------------------------------------------------------------------

    private static Object loadString(LuaState lua, Arguments arguments) {
        LuaString source = arguments.checkString(1);
        LuaString name = arguments.optString(2, source);
        return compile(lua, source, name.toString());
    }

    private static Object load(LuaState lua, Arguments arguments) {
        LuaFunction reader = arguments.checkFunction(1);
        LuaString name = arguments.optString(2, LuaString.known("=(load)"));
        long mark = lua.mark();
        Arguments level = lua.current();
        LuaString source;
        try {
            source = read(lua, arguments, reader);
        } catch (LuaError error) {
            lua.restore(mark, level);
            return lua.results(null, error.value());
        }
        return compile(lua, source, name.toString());
    }

    /** All that a reader function returns until it returns nil or an empty string. */
    private static LuaString read(LuaState lua, Arguments arguments, LuaFunction reader) {
        byte[] source = new byte[256];
        int length = 0;
        while (true) {
            lua.tick();
            Object piece = LuaState.first(lua.call(reader));
            LuaString text = LuaNumber.toLuaString(piece);
            if (piece != null && text == null) {
                throw arguments.error("reader function must return a string");
            }
            if (text == null || text.length() == 0) {
                return LuaString.copyOf(source, 0, length);
            }
            if (length + text.length() > source.length) {
                int size = Math.max(length + text.length(), 2 * length);
                if (size > 2 * MAX_SOURCE) {
                    throw new LuaError("not enough memory");
                }
                lua.charge(size);
                source = Arrays.copyOf(source, size);
            }
            System.arraycopy(text.array(), 0, source, length, text.length());
            length += text.length();
        }
    }

    private static Object compile(LuaState lua, LuaString source, String name) {
        try {
            if (source.length() > MAX_SOURCE) {
                throw new LuaError("not enough memory");
            }
            lua.charge(20L * source.length());
            return LuaCompiler.compile(source.array(), name).function(lua);
        } catch (LuaError refused) {
            return lua.results(null, refused.value());
        }
    }

    // ---- protected calls --------------------------------------------------------------------------------------------

    /** Redis's own pcall: of an error table it returns the field err, if that is a string. */
    private static Object pcall(LuaState lua, Arguments arguments) {
        if (arguments.count() == 0) {
            return lua.results(false, LuaString.known("attempt to call a boolean value"));
        }
        Object function = arguments.get(1);
        Object[] array = arguments.array();
        int offset = arguments.offset() + 1;
        int count = arguments.count() - 1;
        long mark = lua.mark();
        Arguments level = lua.current();
        try {
            return lua.prepend(true, lua.call(function, array, offset, count));
        } catch (LuaError error) {
            lua.restore(mark, level);
            return caught(lua, error.value());
        } catch (StackOverflowError overflow) {
            lua.restore(mark, level);
            return lua.results(false, LuaString.known("stack overflow"));
        }
    }

    private static Object caught(LuaState lua, Object value) {
        if (!(value instanceof LuaTable)) {
            return lua.results(false, value);
        }
        Object message = lua.index(value, ERR);
        return message instanceof LuaString || message instanceof Double
                ? lua.results(false, message)
                : lua.results(false, value, message);
    }

    private static Object xpcall(LuaState lua, Arguments arguments) {
        arguments.checkAny(2);
        Object function = arguments.get(1);
        Object handler = arguments.get(2);
        long mark = lua.mark();
        Arguments level = lua.current();
        Object thrown;
        try {
            return lua.prepend(true, lua.call(function));
        } catch (LuaError error) {
            thrown = error.value();
        } catch (StackOverflowError overflow) {
            thrown = LuaString.known("stack overflow");
        }
        lua.restore(mark, level);
        try {
            return lua.results(false, LuaState.first(lua.call(handler, thrown)));
        } catch (LuaError error) {
            lua.restore(mark, level);
            return lua.results(false, LuaString.known("error in error handling"));
        }
    }

    // ---- values -----------------------------------------------------------------------------------------------------

    private static Object rawEqual(LuaState lua, Arguments arguments) {
        arguments.checkAny(1);
        arguments.checkAny(2);
        return LuaState.rawEqual(arguments.get(1), arguments.get(2));
    }

    private static Object rawGet(LuaState lua, Arguments arguments) {
        LuaTable table = arguments.checkTable(1);
        arguments.checkAny(2);
        return table.get(arguments.get(2));
    }

    private static Object rawSet(LuaState lua, Arguments arguments) {
        LuaTable table = arguments.checkTable(1);
        arguments.checkAny(2);
        arguments.checkAny(3);
        table.set(arguments.get(2), arguments.get(3));
        return table;
    }

    private static Object select(LuaState lua, Arguments arguments) {
        int given = arguments.count();
        if (arguments.get(1) instanceof LuaString text && text.length() > 0 && text.byteAt(0) == '#') {
            return LuaNumber.box(given - 1);
        }
        int from = arguments.checkInt(1);
        if (from < 0) {
            from = given + from;
        } else if (from > given) {
            from = given;
        }
        if (from < 1) {
            throw arguments.argumentError(1, "index out of range");
        }
        return lua.results(arguments.array(), arguments.offset() + from, given - from);
    }

    private static Object toNumber(LuaState lua, Arguments arguments) {
        int base = arguments.optInt(2, 10);
        if (base == 10) {
            return LuaNumber.toNumber(arguments.checkAny(1));
        }
        LuaString text = arguments.checkString(1);
        if (base < 2 || base > 36) {
            throw arguments.argumentError(2, "base out of range");
        }
        return Radix.parse(text, base);
    }

    private static Object unpack(LuaState lua, Arguments arguments) {
        LuaTable table = arguments.checkTable(1);
        int first = arguments.optInt(2, 1);
        int last = arguments.isNoneOrNil(3) ? table.length() : arguments.checkInt(3);
        if (first > last) {
            return lua.results();
        }
        long count = (long) last - first + 1;
        if (count >= MAX_UNPACKED) {
            throw arguments.error("too many results to unpack");
        }
        Object[] values = new Object[(int) count];
        for (int i = 0; i < values.length; i++) {
            values[i] = table.get(first + i);
        }
        lua.tick(values.length / 8);
        return lua.results(values, 0, values.length);
    }
}
