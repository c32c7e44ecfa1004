package io.varve.lua.lib.base;

import io.varve.lua.LuaState;
import io.varve.lua.LuaString;
import io.varve.lua.text.ByteBuilder;

/**
 * The bytes of a string that a library is building. Its memory counts as the script's until it is closed. Confined to
 * the state's thread.
 */
public final class LuaBuffer extends ByteBuilder implements AutoCloseable {
    /** So little is not worth counting. */
    private static final int FREE_BYTES = 256;

    private final LuaState lua;
    private long held;

    /** An empty buffer of a script. */
    public LuaBuffer(LuaState lua) {
        super(FREE_BYTES);
        this.lua = lua;
    }

    /** The string, which has memory of its own. The buffer is of no use then. */
    public LuaString toLuaString() {
        // The buffer lives on only until its owner returns: counting both would halve the longest string.
        close();
        lua.chargeString(length());
        return LuaString.of(toByteArray());
    }

    @Override
    protected void beforeGrowth(long newCapacity) {
        super.beforeGrowth(newCapacity);
        long more = newCapacity - held;
        lua.hold(more);
        held = newCapacity;
    }

    @Override
    public void close() {
        lua.release(held);
        held = 0;
    }
}
