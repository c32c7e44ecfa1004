package io.varve.lua.lib;

import io.varve.lua.Arguments;
import io.varve.lua.LuaNumber;
import io.varve.lua.LuaState;
import io.varve.lua.LuaString;
import io.varve.lua.LuaTable;
import io.varve.lua.lib.base.Library;

/** Protects globals from scripts, as Redis does. Stateless. */
public final class Protection {

    private Protection() {}

    /**
     * Makes all tables that are reached from a table of globals read-only, and reads of undeclared globals an error.
     * The server still sets globals with {@link LuaTable#put}.
     */
    public static void protect(LuaState lua, LuaTable globals) {
        LuaTable metatable = lua.newTable();
        Library.register(metatable, "__index", Protection::refuse);
        globals.metatable(metatable);
        freeze(globals);
        freeze(lua.metatable(LuaString.EMPTY));
    }

    private static void freeze(Object value) {
        if (!(value instanceof LuaTable table) || table.isReadOnly()) {
            return;
        }
        table.readOnly(true);
        freeze(table.metatable());
        for (int i = table.nextPosition(0); i > 0; i = table.nextPosition(i)) {
            freeze(table.valueAt(i));
        }
    }

    private static Object refuse(LuaState lua, Arguments arguments) {
        throw arguments.error("Script attempted to access nonexistent global variable '"
                + LuaNumber.text(arguments.get(2)) + "'");
    }
}
