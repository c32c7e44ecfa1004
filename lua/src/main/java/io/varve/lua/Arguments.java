package io.varve.lua;

/**
 * The arguments of a call, and what called. Confined to the state's thread and valid until the function returns or
 * calls another one through the same object. This class itself is a call from Java; compiled code has a subclass.
 */
public class Arguments {
    /** The array that holds the arguments, among others. */
    protected Object[] values;
    /** The index of the first argument in {@link #values}. */
    protected int offset;
    protected int count;
    /** The arguments of the call before; null at the bottom. */
    protected final Arguments parent;

    /** A call from Java. */
    protected Arguments(Arguments parent, Object[] values, int offset, int count) {
        this.parent = parent;
        this.values = values;
        this.offset = offset;
        this.count = count;
    }

    public final int count() {
        return count;
    }

    /** @param index from 1; nil beyond the last */
    public final Object get(int index) {
        return index <= count ? values[offset + index - 1] : null;
    }

    /** True if there are fewer arguments. */
    public final boolean isNone(int index) {
        return index > count;
    }

    public final boolean isNoneOrNil(int index) {
        return get(index) == null;
    }

    /** The array that holds the arguments, from {@link #offset} on. The callee does not modify it. */
    public final Object[] array() {
        return values;
    }

    public final int offset() {
        return offset;
    }

    public final Arguments parent() {
        return parent;
    }

    // ---- checks -----------------------------------------------------------------------------------------------------

    /** A string, or a number as a string. */
    public final LuaString checkString(int index) {
        if (get(index) instanceof LuaString string) {
            return string;
        }
        LuaString converted = LuaNumber.toLuaString(get(index));
        if (converted == null) {
            throw typeError(index, "string");
        }
        return converted;
    }

    public final LuaString optString(int index, LuaString otherwise) {
        return isNoneOrNil(index) ? otherwise : checkString(index);
    }

    /** A number, or a string that is one. */
    public final double checkNumber(int index) {
        if (get(index) instanceof Double number) {
            return number;
        }
        Double converted = LuaNumber.toNumber(get(index));
        if (converted == null) {
            throw typeError(index, "number");
        }
        return converted;
    }

    public final double optNumber(int index, double otherwise) {
        return isNoneOrNil(index) ? otherwise : checkNumber(index);
    }

    /** A number as C's 64-bit integer: luaL_checkinteger. */
    public final long checkLong(int index) {
        return LuaNumber.toLong(checkNumber(index));
    }

    public final long optLong(int index, long otherwise) {
        return isNoneOrNil(index) ? otherwise : checkLong(index);
    }

    /** A number as C's int: luaL_checkint, which drops the high bits of the 64-bit integer. */
    public final int checkInt(int index) {
        return (int) checkLong(index);
    }

    public final int optInt(int index, int otherwise) {
        return isNoneOrNil(index) ? otherwise : checkInt(index);
    }

    public final LuaTable checkTable(int index) {
        if (get(index) instanceof LuaTable table) {
            return table;
        }
        throw typeError(index, "table");
    }

    public final LuaFunction checkFunction(int index) {
        if (get(index) instanceof LuaFunction function) {
            return function;
        }
        throw typeError(index, "function");
    }

    /** Any value, also nil, but not none. */
    public final Object checkAny(int index) {
        if (isNone(index)) {
            throw argumentError(index, "value expected");
        }
        return get(index);
    }

    /** The index of a string among options. */
    public final int checkOption(int index, LuaString otherwise, String... options) {
        LuaString wanted = otherwise == null ? checkString(index) : optString(index, otherwise);
        String text = wanted.toString();
        for (int i = 0; i < options.length; i++) {
            if (options[i].equals(text)) {
                return i;
            }
        }
        throw argumentError(index, "invalid option '" + text + "'");
    }

    /** The type of an argument, or "no value". */
    public final String typeName(int index) {
        return isNone(index) ? "no value" : LuaState.typeName(get(index));
    }

    // ---- errors -----------------------------------------------------------------------------------------------------

    /** An error with the position of the caller: luaL_error. The caller of this method throws it. */
    public final LuaError error(String latin1) {
        return new LuaError(where(1) + latin1);
    }

    /** "bad argument #i to 'f' (...)". */
    public final LuaError argumentError(int index, String problem) {
        String name = calledName();
        int shown = index;
        if (isMethodCall()) {
            shown--;
            if (shown == 0) {
                return error("calling '" + name + "' on bad self (" + problem + ")");
            }
        }
        return error("bad argument #" + shown + " to '" + name + "' (" + problem + ")");
    }

    /** "bad argument #i to 'f' (number expected, got nil)". */
    public final LuaError typeError(int index, String expected) {
        return argumentError(index, expected + " expected, got " + typeName(index));
    }

    /**
     * The position prefix of a level: 1 is what called the function, 2 what called that. Empty if it is unknown or
     * native code.
     */
    public String where(int level) {
        return level <= 1 || parent == null ? "" : parent.where(level - 1);
    }

    /** The name that the call used for the function. */
    protected String calledName() {
        return "?";
    }

    /** True if the call was {@code value:name()}. */
    protected boolean isMethodCall() {
        return false;
    }

    /**
     * "attempt to operate on local 'x' (a nil value)".
     *
     * @param operand which operand of the operation in progress: 0 or 1
     */
    protected LuaError operandError(String operation, Object value, int operand) {
        return new LuaError("attempt to " + operation + " a " + LuaState.typeName(value) + " value");
    }

    /** An error with the position of the operation in progress, if it is known: luaG_runerror. */
    protected LuaError runtimeError(String latin1) {
        return new LuaError(latin1);
    }

    /** Adds the values that only this level of the call stack reaches. */
    protected void addReferences(MemoryMeasure measure) {
        measure.add(values, offset, count);
    }
}
