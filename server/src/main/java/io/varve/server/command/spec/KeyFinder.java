package io.varve.server.command.spec;

import io.varve.server.resp.Numbers;

/** Finds the keys of a command whose positions depend on other arguments (numkeys and the like). Immutable. */
@FunctionalInterface
public interface KeyFinder {
    /**
     * Calls {@code keys} with the index of each key argument. Finds none if the arguments are invalid: the handler then
     * replies the error.
     */
    void find(Arguments arguments, KeyIndexes keys);

    /**
     * Finds the keys that follow an argument with their number, and the keys in front of it.
     *
     * @param number index of the argument with the number of keys
     * @param keysInFront number of keys at the arguments 1, 2 ...
     */
    static KeyFinder counted(int number, int keysInFront) {
        return (arguments, keys) -> {
            int count = arguments.argumentCount();
            if (number >= count) {
                return;
            }
            long address = arguments.argumentAddress(number);
            int length = arguments.argumentLength(number);
            long following = Numbers.isLong(address, length) ? Numbers.toLong(address, length) : 0;
            if (following < 1 || following > count - number - 1) {
                return;
            }
            for (int i = 1; i <= keysInFront; i++) {
                keys.add(i);
            }
            for (int i = 1; i <= following; i++) {
                keys.add(number + i);
            }
        };
    }

    /** Receives the indexes of key arguments. */
    @FunctionalInterface
    interface KeyIndexes {
        void add(int argumentIndex);
    }
}
