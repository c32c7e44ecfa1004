package io.varve.server.command;

/**
 * A command that is an argument of another, such as that of COMMAND GETKEYS. Confined to the event loop.
 *
 * @param at the argument that is its name
 */
public record EmbeddedArguments(Arguments outer, int at) implements Arguments {
    @Override
    public int argumentCount() {
        return outer.argumentCount() - at;
    }

    @Override
    public long argumentAddress(int index) {
        return outer.argumentAddress(at + index);
    }

    @Override
    public int argumentLength(int index) {
        return outer.argumentLength(at + index);
    }
}
