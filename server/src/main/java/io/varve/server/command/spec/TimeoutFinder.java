package io.varve.server.command.spec;

/** Finds the timeout of a command that may wait for its keys, or not. Immutable. */
@FunctionalInterface
public interface TimeoutFinder {
    /** A command without a timeout does not wait. */
    int NONE = 0;

    /** The number of the argument with the timeout in milliseconds, or {@link #NONE}. */
    int find(Arguments arguments);
}
