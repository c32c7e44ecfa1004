package io.varve.lua.syntax;

/** Operators with one operand. */
public enum UnaryOperator {
    NEGATE, NOT, LENGTH
}
