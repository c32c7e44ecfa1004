package io.varve.lua.interpreter;

/** A statement that can be executed. Immutable: states of several threads run the same nodes. */
abstract class StatementNode {
    /** The next statement follows. */
    static final int NORMAL = 0;
    /** The innermost loop ends. */
    static final int BREAK = 1;
    /** The function ends, with the value in {@link Frame#result}. */
    static final int RETURN = 2;

    abstract int execute(Frame frame);
}
