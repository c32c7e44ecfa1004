package io.varve.server.command;

/** Finds the keys of a command whose places follow from other arguments (numkeys and the like). Immutable. */
@FunctionalInterface
public interface KeyFinder {
    /**
     * Calls {@code keys} with the index of each key argument. Finds none where the arguments make no sense: the handler
     * then replies the error.
     */
    void find(Arguments arguments, KeyIndexes keys);

    /** Takes the indexes. */
    @FunctionalInterface
    interface KeyIndexes {
        void add(int argumentIndex);
    }
}
