package io.varve.lua.interpreter;

import io.varve.lua.LuaState;

/** An expression that can be evaluated. Immutable: states of several threads run the same nodes. */
abstract class Node {
    /** The line for messages. */
    final int line;

    Node(int line) {
        this.line = line;
    }

    /** The value; of several, the first one. */
    abstract Object eval(Frame frame);

    /** The values: one, or the state's results. */
    Object evalMulti(Frame frame) {
        return eval(frame);
    }

    /** True if {@link #evalMulti} may yield other than one value. */
    boolean isMulti() {
        return false;
    }

    /**
     * The value if it is a number. Otherwise NaN, with the value in {@link Frame#other}; so a caller that gets NaN
     * asks {@link Frame#takeOther}.
     */
    double evalNumber(Frame frame) {
        Object value = eval(frame);
        return value instanceof Double number ? number : frame.other(value);
    }

    /** Whether the value is neither nil nor false. */
    boolean test(Frame frame) {
        return LuaState.isTrue(eval(frame));
    }

    /** True if evaluation calls nothing and creates nothing large, so that no memory measure happens meanwhile. */
    boolean isSimple() {
        return false;
    }

    /** The name of the value in messages, such as "local 'x'", or null. */
    String description() {
        return null;
    }

    /** The name of an operand of this operation in messages. */
    String operandDescription(int operand) {
        return null;
    }

    /** The name that a call has for its function, or null. */
    String calledName() {
        return null;
    }

    boolean isMethodCall() {
        return false;
    }
}
