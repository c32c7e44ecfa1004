package io.varve.server.command;

import io.varve.server.resp.Numbers;

/** Finds the keys of a command whose places follow from other arguments (numkeys and the like). Immutable. */
@FunctionalInterface
public interface KeyFinder {
    /**
     * Calls {@code keys} with the index of each key argument. Finds none where the arguments make no sense: the handler
     * then replies the error.
     */
    void find(Arguments arguments, KeyIndexes keys);

    /**
     * Finds the keys that stand behind an argument that says how many they are, and those in front of it.
     *
     * @param number       the argument with the number
     * @param keysInFront how many keys there are at the arguments 1, 2 ...
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

    /** Takes the indexes. */
    @FunctionalInterface
    interface KeyIndexes {
        void add(int argumentIndex);
    }
}
