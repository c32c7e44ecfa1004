package io.varve.lua.interpreter;

/** A variable that several functions share. Confined to the state's thread. */
final class Cell {
    /** Heap bytes of a register with a cell, without the value. */
    static final int BYTES = 16;
    Object value;

    Cell(Object value) {
        this.value = value;
    }
}
