package io.varve.lua.lib;

import io.varve.lua.Arguments;
import io.varve.lua.LuaError;
import io.varve.lua.LuaFunction;
import io.varve.lua.LuaNumber;
import io.varve.lua.LuaState;
import io.varve.lua.LuaString;
import io.varve.lua.LuaTable;
import io.varve.lua.lib.base.Library;
import io.varve.lua.lib.base.LuaBuffer;
import io.varve.lua.text.Printf;

/** The library {@code table}. Stateless. */
final class TableLibrary {
    private TableLibrary() {}

    static void install(LuaState lua, LuaTable globals) {
        LuaTable table = lua.newTable();
        Library.register(table, "concat", TableLibrary::concat);
        Library.register(table, "foreach", TableLibrary::foreach);
        Library.register(table, "foreachi", TableLibrary::foreachi);
        Library.register(table, "getn", (state, arguments) -> LuaNumber.box(arguments.checkTable(1).length()));
        Library.register(table, "insert", TableLibrary::insert);
        Library.register(table, "maxn", TableLibrary::maxn);
        Library.register(table, "remove", TableLibrary::remove);
        Library.register(table, "setn", TableLibrary::setn);
        Library.register(table, "sort", TableSort::sort);
        Library.publish(globals, "table", table);
    }

    private static Object setn(LuaState lua, Arguments arguments) {
        arguments.checkTable(1);
        throw arguments.error("'setn' is obsolete");
    }

    private static Object maxn(LuaState lua, Arguments arguments) {
        LuaTable table = arguments.checkTable(1);
        double max = 0;
        for (int p = table.nextPosition(0); p > 0; p = table.nextPosition(p)) {
            lua.tick();
            if (table.keyAt(p) instanceof Double number && number > max) {
                max = number;
            }
        }
        return LuaNumber.box(max);
    }

    private static Object foreachi(LuaState lua, Arguments arguments) {
        LuaTable table = arguments.checkTable(1);
        int length = table.length();
        LuaFunction function = arguments.checkFunction(2);
        for (int i = 1; i <= length; i++) {
            lua.tick();
            Object result = LuaState.first(lua.call(function, LuaNumber.box(i), table.get(i)));
            if (result != null) {
                return result;
            }
        }
        return lua.results();
    }

    private static Object foreach(LuaState lua, Arguments arguments) {
        LuaTable table = arguments.checkTable(1);
        LuaFunction function = arguments.checkFunction(2);
        int position = table.nextPosition(0);
        while (position > 0) {
            lua.tick();
            Object key = table.keyAt(position);
            Object result = LuaState.first(lua.call(function, key, table.valueAt(position)));
            if (result != null) {
                return result;
            }
            int known = table.positionOf(key);
            if (known < 0) {
                throw new LuaError("invalid key to 'next'");
            }
            position = table.nextPosition(known);
        }
        return lua.results();
    }

    private static Object insert(LuaState lua, Arguments arguments) {
        LuaTable table = arguments.checkTable(1);
        int end = table.length() + 1;
        switch (arguments.count()) {
            case 2 -> table.set(end, arguments.get(2));
            case 3 -> {
                int position = arguments.checkInt(2);
                for (int i = end; i > position; i--) {
                    lua.tick();
                    table.set(i, table.get(i - 1));
                }
                table.set(position, arguments.get(3));
            }
            default -> throw arguments.error("wrong number of arguments to 'insert'");
        }
        return lua.results();
    }

    private static Object remove(LuaState lua, Arguments arguments) {
        LuaTable table = arguments.checkTable(1);
        int end = table.length();
        int position = arguments.optInt(2, end);
        if (position < 1 || position > end) {
            return lua.results();
        }
        Object removed = table.get(position);
        for (int i = position; i < end; i++) {
            lua.tick();
            table.set(i, table.get(i + 1));
        }
        table.set(end, null);
        return removed;
    }

    private static Object concat(LuaState lua, Arguments arguments) {
        byte[] separator = arguments.optString(2, LuaString.EMPTY).array();
        LuaTable table = arguments.checkTable(1);
        int first = arguments.optInt(3, 1);
        int last = arguments.isNoneOrNil(4) ? table.length() : arguments.checkInt(4);
        if (first > last) {
            return LuaString.EMPTY;
        }
        try (LuaBuffer out = new LuaBuffer(lua)) {
            for (int i = first;; i++) {
                lua.tick();
                appendItem(arguments, out, table, i);
                if (i == last) {
                    return out.toLuaString();
                }
                out.append(separator);
            }
        }
    }

    private static void appendItem(Arguments arguments, LuaBuffer out, LuaTable table, int index) {
        Object item = table.get(index);
        if (item instanceof LuaString string) {
            out.append(string.array());
        } else if (item instanceof Double number) {
            Printf.general(out, number, 14);
        } else {
            throw arguments.error("invalid value (" + LuaState.typeName(item) + ") at index " + index
                    + " in table for 'concat'");
        }
    }
}
