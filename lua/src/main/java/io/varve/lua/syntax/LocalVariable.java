package io.varve.lua.syntax;

import io.varve.lua.LuaString;

/** A local variable, a parameter or a loop's variable. Does not change once its function is parsed. */
public final class LocalVariable {
    private final LuaString name;
    private final int slot;
    private boolean captured;
    private boolean assigned;

    LocalVariable(LuaString name, int slot) {
        this.name = name;
        this.slot = slot;
    }

    public LuaString name() {
        return name;
    }

    /** The register of its function that holds it. Variables of disjoint blocks share registers. */
    public int slot() {
        return slot;
    }

    /** True if an inner function uses it. */
    public boolean isCaptured() {
        return captured;
    }

    /** True if a statement other than its declaration assigns it. */
    public boolean isAssigned() {
        return assigned;
    }

    void capture() {
        captured = true;
    }

    void assign() {
        assigned = true;
    }
}
