package io.varve.lua.lib;

import io.varve.lua.LuaNumber;
import io.varve.lua.LuaState;
import io.varve.lua.LuaTable;
import io.varve.lua.lib.base.Library;

/** The library {@code os}, of which Redis offers only the clock, and only since 7.4. Stateless. */
final class OsLibrary {
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double RESOLUTION = 1e6;

    private OsLibrary() {}

    static void install(LuaState lua, LuaTable globals) {
        LuaTable os = lua.newTable();
        Library.register(os, "clock", (state, arguments) -> LuaNumber.box(seconds()));
        Library.publish(globals, "os", os);
    }

    /** Seconds since some moment, in microseconds as C's clock. */
    private static double seconds() {
        return Math.floor(System.nanoTime() / NANOS_PER_SECOND * RESOLUTION) / RESOLUTION;
    }
}
