package io.varve.lua.lib;

import io.varve.lua.LuaState;
import io.varve.lua.lib.format.JsonLibrary;
import io.varve.lua.lib.format.MessagePackLibrary;
import io.varve.lua.lib.format.StructLibrary;
import io.varve.lua.lib.string.StringLibrary;

/** All libraries that scripts have. Stateless. */
public final class StandardLibraries {
    private StandardLibraries() {}

    /** Installs them in a state's globals. */
    public static void install(LuaState lua) {
        BaseLibrary.install(lua, lua.globals());
        CoroutineLibrary.install(lua, lua.globals());
        StringLibrary.install(lua, lua.globals());
        TableLibrary.install(lua, lua.globals());
        MathLibrary.install(lua, lua.globals());
        BitLibrary.install(lua, lua.globals());
        StructLibrary.install(lua, lua.globals());
        JsonLibrary.install(lua, lua.globals());
        MessagePackLibrary.install(lua, lua.globals());
        OsLibrary.install(lua, lua.globals());
    }
}
