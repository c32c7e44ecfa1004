package io.varve.lua;

/** A function written in Java, from a lambda. Immutable if its body is. */
public final class NativeFunction extends LuaFunction {
    private final Body body;

    /** Runs the function. */
    @FunctionalInterface
    public interface Body {
        Object call(LuaState lua, Arguments arguments);
    }

    public NativeFunction(Body body) {
        this.body = body;
    }

    @Override
    public Object call(LuaState lua, Arguments arguments) {
        return body.call(lua, arguments);
    }
}
