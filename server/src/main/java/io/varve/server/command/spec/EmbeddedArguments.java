package io.varve.server.command.spec;

/**
 * A command inside the arguments of another, such as that of COMMAND GETKEYS. Confined to the event loop.
 *
 * @param at number of the argument that is its name
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
