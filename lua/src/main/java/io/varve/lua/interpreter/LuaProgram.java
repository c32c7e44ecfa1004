package io.varve.lua.interpreter;

import io.varve.lua.LuaFunction;
import io.varve.lua.LuaState;
import io.varve.lua.LuaTable;

/** A compiled chunk. Immutable, so states of all threads may share it. */
public final class LuaProgram {
    private static final int NODE_BYTES = 48;
    private final Prototype prototype;
    private final int nodes;

    LuaProgram(Prototype prototype, int nodes) {
        this.prototype = prototype;
        this.nodes = nodes;
    }

    /** The chunk as a function of a state, with the state's globals. It may be called many times. */
    public LuaFunction function(LuaState lua) {
        return function(lua, lua.globals());
    }

    /** The chunk as a function of a state, with a table of its own for globals. */
    public LuaFunction function(LuaState lua, LuaTable globals) {
        lua.charge(LuaClosure.chargedBytes(0));
        return new LuaClosure(prototype, globals);
    }

    /** An estimate of the program's memory. */
    public long sizeBytes() {
        return (long) NODE_BYTES * nodes;
    }
}
