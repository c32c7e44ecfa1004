package io.varve.lua;

/** Ends a script from outside. No function of Lua catches it. Immutable. */
public class LuaKilled extends Error {
    private static final long serialVersionUID = 1L;

    public LuaKilled(String message) {
        super(message, null, false, false);
    }
}
