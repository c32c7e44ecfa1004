package io.varve.lua.syntax;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * A function's parameters and statements. Immutable. A chunk is a function with variable arguments.
 *
 * @param varArgs has {@code ...} as its last parameter
 * @param argTable the variable {@code arg}, which Lua 5.0 filled with the variable arguments; null if there is none
 * @param fillsArgTable the function does not use {@code ...}, so {@code arg} is filled
 * @param upvalues what it takes from the function around it
 * @param slots registers that its variables need
 * @param line where it begins: 0 for a chunk
 */
public record FunctionBody(List<LocalVariable> parameters, boolean varArgs, @Nullable LocalVariable argTable,
        boolean fillsArgTable, List<UpvalueSource> upvalues, int slots, Block body, int line) {

    /**
     * Where an upvalue comes from.
     *
     * @param fromLocal a variable of the function around; otherwise that function's upvalue with the index
     */
    public record UpvalueSource(LocalVariable variable, boolean fromLocal, int index) {}
}
