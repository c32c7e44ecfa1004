package io.varve.lua;

/**
 * A function: native or compiled. A function without captured state may be shared by states; others are confined to
 * the thread of their state.
 */
public abstract class LuaFunction {
    /** The last memory measure that counted this function. */
    int measure;

    /**
     * Runs the function.
     *
     * @return the value if there is exactly one, else what {@link LuaState#results} returned
     */
    public abstract Object call(LuaState lua, Arguments arguments);

    /** True unless it is compiled from Lua. */
    public boolean isNative() {
        return true;
    }

    /** Adds what this function refers to. Native functions that hold Lua values override it. */
    protected void addReferences(MemoryMeasure measure) {}

    /** The bytes that the function itself takes. */
    protected long size() {
        return 0;
    }
}
