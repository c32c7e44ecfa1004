package io.varve.lua.lib.base;

import io.varve.lua.Arguments;
import io.varve.lua.LuaError;
import io.varve.lua.LuaState;
import io.varve.lua.LuaString;
import io.varve.lua.LuaTable;
import io.varve.lua.NativeFunction;

/** Checks and conversions that the functions of libraries share. Stateless. */
public final class Library {
    /** C Lua's LUAI_MAXCSTACK: how many values a function may have on its stack. */
    public static final int MAX_STACK = 8000;

    /** Copying 64 bytes takes a tick. */
    private static final int BYTES_PER_TICK_SHIFT = 6;

    private Library() {}

    /** Sets a field of a table to a native function. */
    public static void register(LuaTable table, String name, NativeFunction.Body body) {
        table.put(LuaString.known(name), new NativeFunction(body));
    }

    /** Makes a table read-only and sets a global to it. */
    public static void publish(LuaTable globals, String name, LuaTable table) {
        table.readOnly(true);
        globals.put(LuaString.known(name), table);
    }

    /** Counts the work of copying bytes. */
    public static void tickBytes(LuaState lua, int bytes) {
        lua.tick(bytes >> BYTES_PER_TICK_SHIFT);
    }

    /** The error of a function that has too many values on its stack. */
    public static LuaError stackOverflow(Arguments arguments, String problem) {
        return arguments.error("stack overflow (" + problem + ")");
    }
}
