package io.varve.lua.lib.string;

import java.util.Arrays;

import io.varve.lua.Arguments;
import io.varve.lua.LuaError;
import io.varve.lua.LuaNumber;
import io.varve.lua.LuaState;
import io.varve.lua.LuaString;
import io.varve.lua.LuaTable;
import io.varve.lua.lib.base.Library;

/** The library {@code string}, but for its patterns and formats. Stateless. */
public final class StringLibrary {
    private static final LuaString NO_BYTECODE = LuaString.known("\u001bLuaQ");

    private StringLibrary() {}

    /** Adds the library to the globals, and as what values of type string have as methods. */
    public static void install(LuaState lua, LuaTable globals) {
        LuaTable string = lua.newTable();
        Library.register(string, "byte", StringLibrary::bytes);
        Library.register(string, "char", StringLibrary::characters);
        Library.register(string, "dump", StringLibrary::dump);
        Library.register(string, "find", PatternFunctions::find);
        Library.register(string, "format", StringFormat::format);
        Library.register(string, "gmatch", PatternFunctions::gmatch);
        Library.register(string, "gsub", PatternFunctions::gsub);
        Library.register(string, "len", StringLibrary::len);
        Library.register(string, "lower", StringLibrary::lower);
        Library.register(string, "match", PatternFunctions::match);
        Library.register(string, "rep", StringLibrary::rep);
        Library.register(string, "reverse", StringLibrary::reverse);
        Library.register(string, "sub", StringLibrary::sub);
        Library.register(string, "upper", StringLibrary::upper);
        string.put(LuaString.known("gfind"), string.get(LuaString.known("gmatch")));
        Library.publish(globals, "string", string);
        LuaTable metatable = lua.newTable();
        metatable.put(LuaString.known("__index"), string);
        metatable.readOnly(true);
        lua.stringMetatable(metatable);
    }

    /** A position from 1 as C Lua reads it: a negative one counts from the end. */
    static long position(long position, int length) {
        long absolute = position < 0 ? position + length + 1 : position;
        return Math.max(absolute, 0);
    }

    private static Object len(LuaState lua, Arguments arguments) {
        return LuaNumber.box(arguments.checkString(1).length());
    }

    private static Object sub(LuaState lua, Arguments arguments) {
        LuaString string = arguments.checkString(1);
        int length = string.length();
        long start = Math.max(position(arguments.checkLong(2), length), 1);
        long end = Math.min(position(arguments.optLong(3, -1), length), length);
        if (start > end) {
            return LuaString.EMPTY;
        }
        if (start == 1 && end == length) {
            return string;
        }
        int count = (int) (end - start + 1);
        lua.chargeString(count);
        Library.tickBytes(lua, count);
        return LuaString.copyOf(string.array(), (int) start - 1, count);
    }

    private static Object reverse(LuaState lua, Arguments arguments) {
        byte[] source = arguments.checkString(1).array();
        byte[] target = newBytes(lua, source.length);
        for (int i = 0; i < source.length; i++) {
            target[source.length - 1 - i] = source[i];
        }
        return LuaString.of(target);
    }

    private static Object lower(LuaState lua, Arguments arguments) {
        byte[] source = arguments.checkString(1).array();
        byte[] target = newBytes(lua, source.length);
        for (int i = 0; i < source.length; i++) {
            byte b = source[i];
            target[i] = b >= 'A' && b <= 'Z' ? (byte) (b + 32) : b;
        }
        return LuaString.of(target);
    }

    private static Object upper(LuaState lua, Arguments arguments) {
        byte[] source = arguments.checkString(1).array();
        byte[] target = newBytes(lua, source.length);
        for (int i = 0; i < source.length; i++) {
            byte b = source[i];
            target[i] = b >= 'a' && b <= 'z' ? (byte) (b - 32) : b;
        }
        return LuaString.of(target);
    }

    private static Object rep(LuaState lua, Arguments arguments) {
        byte[] source = arguments.checkString(1).array();
        int count = arguments.checkInt(2);
        if (count <= 0 || source.length == 0) {
            return LuaString.EMPTY;
        }
        long total = (long) source.length * count;
        if (total > Integer.MAX_VALUE - 64) {
            throw new LuaError("not enough memory");
        }
        byte[] target = newBytes(lua, (int) total);
        if (source.length == 1) {
            Arrays.fill(target, source[0]);
            return LuaString.of(target);
        }
        System.arraycopy(source, 0, target, 0, source.length);
        for (int filled = source.length; filled < target.length; filled *= 2) {
            System.arraycopy(target, 0, target, filled, Math.min(filled, target.length - filled));
            if (filled > target.length / 2) {
                break;
            }
        }
        return LuaString.of(target);
    }

    private static Object bytes(LuaState lua, Arguments arguments) {
        LuaString string = arguments.checkString(1);
        int length = string.length();
        long start = position(arguments.optLong(2, 1), length);
        long end = Math.min(position(arguments.optLong(3, start), length), length);
        start = Math.max(start, 1);
        if (start > end) {
            return lua.results();
        }
        if (start == end) {
            return LuaNumber.box(string.byteAt((int) start - 1));
        }
        int count = (int) (end - start + 1);
        if (count + arguments.count() > Library.MAX_STACK) {
            throw Library.stackOverflow(arguments, "string slice too long");
        }
        Object[] values = new Object[count];
        for (int i = 0; i < count; i++) {
            values[i] = LuaNumber.box(string.byteAt((int) start - 1 + i));
        }
        lua.tick(count);
        return lua.results(values, 0, count);
    }

    private static Object characters(LuaState lua, Arguments arguments) {
        byte[] target = newBytes(lua, arguments.count());
        for (int i = 0; i < target.length; i++) {
            int character = arguments.checkInt(i + 1);
            if ((character & 0xff) != character) {
                throw arguments.argumentError(i + 1, "invalid value");
            }
            target[i] = (byte) character;
        }
        return LuaString.of(target);
    }

    /** There is no bytecode: what it returns begins as C Lua's, and cannot be loaded, as in Redis. */
    private static Object dump(LuaState lua, Arguments arguments) {
        if (arguments.checkFunction(1).isNative()) {
            throw arguments.error("unable to dump given function");
        }
        return NO_BYTECODE;
    }

    private static byte[] newBytes(LuaState lua, int length) {
        lua.chargeString(length);
        Library.tickBytes(lua, length);
        return new byte[length];
    }
}
