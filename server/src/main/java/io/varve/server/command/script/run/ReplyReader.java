package io.varve.server.command.script.run;

import io.varve.lua.LuaNumber;
import io.varve.lua.LuaState;
import io.varve.lua.LuaString;
import io.varve.lua.LuaTable;
import io.varve.memory.offheap.Memory;
import io.varve.server.resp.Numbers;
import org.jspecify.annotations.Nullable;

/** Converts the reply of a command, in RESP2 or RESP3, to a Lua value, as Redis does. Confined to its event loop. */
final class ReplyReader {
    static final LuaString OK = LuaString.known("ok");
    static final LuaString ERR = LuaString.known("err");
    static final LuaString MAP = LuaString.known("map");
    static final LuaString SET = LuaString.known("set");
    static final LuaString DOUBLE = LuaString.known("double");
    static final LuaString BIG_NUMBER = LuaString.known("big_number");
    static final LuaString VERBATIM = LuaString.known("verbatim_string");
    static final LuaString STRING = LuaString.known("string");
    static final LuaString FORMAT = LuaString.known("format");
    /** Marks an error that the statistics count for the command that replied it. */
    static final LuaString COUNTED = LuaString.known("ignore_error_stats_update");
    private static final int FORMAT_BYTES = 4;

    private final LuaState lua;
    private long at;
    private boolean isError;

    ReplyReader(LuaState lua) {
        this.lua = lua;
    }

    /** Converts the complete reply at this address. */
    @Nullable
    Object read(long address) {
        at = address;
        isError = Memory.getByte(address) == '-';
        int roots = lua.roots();
        try {
            return next();
        } finally {
            lua.unroot(roots);
        }
    }

    /** Whether the last reply was an error. */
    boolean isError() {
        return isError;
    }

    private @Nullable Object next() {
        byte type = Memory.getByte(at++);
        return switch (type) {
            case '+' -> tagged(OK, line());
            case '-' -> error(line());
            case ':' -> LuaNumber.box(number());
            case '$' -> bulk();
            case '*' -> array((int) number());
            case '_' -> {
                number();
                yield null;
            }
            case '#' -> bool();
            case ',' -> tagged(DOUBLE, LuaNumber.box(decimal(line().toString())));
            case '(' -> tagged(BIG_NUMBER, line());
            case '=' -> verbatim();
            case '%' -> map((int) number());
            case '~' -> set((int) number());
            default -> throw new IllegalStateException("A script cannot read a reply of type " + (char) type);
        };
    }

    private LuaTable table(int array, int hash) {
        return lua.newTable(array, hash);
    }

    /** A table that counts as the script's memory while it is filled: nothing else refers to it so far. */
    private LuaTable rooted(int array, int hash) {
        LuaTable table = table(array, hash);
        lua.root(table);
        return table;
    }

    /** Ends the life of the last rooted table as a root. */
    private LuaTable filled(LuaTable table) {
        lua.unroot(lua.roots() - 1);
        return table;
    }

    private LuaTable tagged(LuaString tag, Object value) {
        LuaTable table = table(0, 1);
        table.put(tag, value);
        return table;
    }

    private LuaTable error(LuaString text) {
        LuaTable table = tagged(ERR, text);
        table.put(COUNTED, true);
        return table;
    }

    private LuaString text(int length) {
        lua.chargeString(length);
        LuaString text = LuaString.of(Memory.toArray(at, length));
        at += length;
        return text;
    }

    private LuaString line() {
        long end = at;
        while (Memory.getByte(end) != '\r') {
            end++;
        }
        LuaString text = text((int) (end - at));
        at += 2;
        return text;
    }

    private long number() {
        long end = at;
        while (Memory.getByte(end) != '\r') {
            end++;
        }
        long value = end == at ? 0 : Numbers.toLong(at, (int) (end - at));
        at = end + 2;
        return value;
    }

    private static double decimal(String text) {
        return switch (text) {
            case "inf" -> Double.POSITIVE_INFINITY;
            case "-inf" -> Double.NEGATIVE_INFINITY;
            case "nan" -> Double.NaN;
            default -> Double.parseDouble(text);
        };
    }

    private Object bulk() {
        int length = (int) number();
        if (length < 0) {
            return false;
        }
        LuaString text = text(length);
        at += 2;
        return text;
    }

    private Object bool() {
        boolean value = Memory.getByte(at) == 't';
        at += 3;
        return value;
    }

    private Object array(int count) {
        if (count < 0) {
            return false;
        }
        LuaTable table = rooted(count, 0);
        for (int i = 1; i <= count; i++) {
            table.put(i, next());
        }
        return filled(table);
    }

    private Object map(int pairs) {
        LuaTable map = rooted(0, pairs);
        for (int i = 0; i < pairs; i++) {
            Object key = next();
            Object value = next();
            if (key != null) {
                map.put(key, value);
            }
        }
        return tagged(MAP, filled(map));
    }

    private Object set(int count) {
        LuaTable set = rooted(0, count);
        for (int i = 0; i < count; i++) {
            Object member = next();
            if (member != null) {
                set.put(member, true);
            }
        }
        return tagged(SET, filled(set));
    }

    private Object verbatim() {
        int length = (int) number();
        LuaString format = text(FORMAT_BYTES - 1);
        at++;
        LuaString text = text(length - FORMAT_BYTES);
        at += 2;
        LuaTable inner = table(0, 2);
        inner.put(STRING, text);
        inner.put(FORMAT, format);
        return tagged(VERBATIM, inner);
    }
}
