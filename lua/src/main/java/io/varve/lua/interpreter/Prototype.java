package io.varve.lua.interpreter;

import java.util.List;

import io.varve.lua.syntax.FunctionBody.UpvalueSource;

/** A compiled function without the variables that it captures. Immutable. */
final class Prototype {
    final String chunkName;
    final int parameters;
    final boolean varArgs;
    /** The register of the table {@code arg}, or -1. */
    final int argSlot;
    /** The parameters that inner functions capture. */
    final int[] cells;
    final int registers;
    final UpvalueSource[] upvalues;
    final StatementNode body;
    /** An estimate of what a call takes of the thread's stack. */
    final int stackBytes;

    Prototype(String chunkName, int parameters, boolean varArgs, int argSlot, int[] cells, int registers,
            List<UpvalueSource> upvalues, StatementNode body, int stackBytes) {
        this.chunkName = chunkName;
        this.parameters = parameters;
        this.varArgs = varArgs;
        this.argSlot = argSlot;
        this.cells = cells;
        this.registers = registers;
        this.upvalues = upvalues.toArray(UpvalueSource[]::new);
        this.body = body;
        this.stackBytes = stackBytes;
    }
}
