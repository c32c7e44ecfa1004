package io.varve.lua;

/**
 * An error that a script can catch. Immutable. It has no stack trace, because scripts use errors for control flow.
 */
public final class LuaError extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private final transient Object value;

    /** @param value what was thrown: any Lua value */
    public LuaError(Object value) {
        super(null, null, false, false);
        this.value = value;
    }

    /** An error with a message, without a position. */
    public LuaError(String latin1) {
        this((Object) LuaString.of(latin1));
    }

    public Object value() {
        return value;
    }

    @Override
    public String getMessage() {
        return value instanceof LuaString || value instanceof Double
                ? LuaNumber.text(value)
                : "(error object is not a string)";
    }
}
