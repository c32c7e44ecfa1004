package io.varve.lua.interpreter;

import io.varve.lua.Arguments;
import io.varve.lua.LuaError;
import io.varve.lua.LuaState;
import io.varve.lua.MemoryMeasure;

/**
 * A call of a compiled function: its registers, and the arguments of the call that it makes. Confined to the state's
 * thread. Registers hold variables first, then values of unfinished expressions, so that a memory measure sees them.
 */
@SuppressWarnings("ReferenceEquality") // Markers and arrays are compared by identity.
final class Frame extends Arguments {
    static final Object[] NO_VALUES = new Object[0];
    private static final Object NIL = new Object();
    private static final int BYTES = 96;
    final LuaState lua;
    final LuaClosure closure;
    final Object[] registers;
    /** The variable arguments. */
    Object[] varArgs = NO_VALUES;
    /** The results of the function, once a return statement has run. */
    Object result;
    /** The function that a return statement calls in the place of this one; the arguments are the outgoing ones. */
    LuaClosure tailCallee;
    /** How many functions ended by a tail call before this one. */
    int tailCalls;
    /** The call or the operation in progress. */
    Node site;
    private Object other;

    Frame(Arguments parent, LuaState lua, LuaClosure closure, int size) {
        super(parent, new Object[size], 0, 0);
        this.lua = lua;
        this.closure = closure;
        registers = values;
    }

    /** Sets the arguments of a call: consecutive registers. */
    void outgoing(Node call, int first, int number) {
        site = call;
        offset = first;
        count = number;
    }

    /** Sets the arguments of a call that may be more than the registers have room for. */
    void outgoing(Node call, Object[] arguments) {
        site = call;
        values = arguments;
        offset = 0;
        count = arguments.length;
    }

    /** After a call with arguments outside the registers. */
    void resetOutgoing() {
        values = registers;
        offset = 0;
        count = 0;
    }

    /** Keeps a value that is no number, for who asked for a number. */
    double other(Object value) {
        other = value == null ? NIL : value;
        return Double.NaN;
    }

    /** The value that {@link Node#evalNumber} yielded with NaN: a number if it was NaN itself. */
    Object takeOther(double yielded) {
        Object value = other;
        other = null;
        return value == null ? (Object) yielded : value == NIL ? null : value;
    }

    /** Sets the operation in progress, for messages. */
    Frame at(Node operation) {
        site = operation;
        return this;
    }

    private String position() {
        return closure.prototype.chunkName + ":" + site.line + ": ";
    }

    @Override
    public String where(int level) {
        if (level <= 1) {
            return site == null ? "" : position();
        }
        int remaining = level - 1 - tailCalls;
        return remaining <= 0 || parent == null ? "" : parent.where(remaining);
    }

    @Override
    protected String calledName() {
        String name = site == null ? null : site.calledName();
        return name == null ? "?" : name;
    }

    @Override
    protected boolean isMethodCall() {
        return site != null && site.isMethodCall();
    }

    @Override
    protected LuaError operandError(String operation, Object value, int operand) {
        String description = site.operandDescription(operand);
        String type = LuaState.typeName(value);
        return runtimeError("attempt to " + operation + " "
                + (description == null ? "a " + type + " value" : description + " (a " + type + " value)"));
    }

    @Override
    protected LuaError runtimeError(String latin1) {
        return new LuaError(site == null ? latin1 : position() + latin1);
    }

    @Override
    protected void addReferences(MemoryMeasure measure) {
        measure.addBytes(BYTES + 4L * registers.length);
        for (Object value : registers) {
            measure.add(value instanceof Cell cell ? cell.value : value);
        }
        measure.add(varArgs, 0, varArgs.length);
        if (values != registers) {
            measure.add(values, 0, values.length);
        }
        measure.add(closure);
        measure.add(other);
    }
}
