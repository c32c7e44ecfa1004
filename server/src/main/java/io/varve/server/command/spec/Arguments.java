package io.varve.server.command.spec;

import java.nio.charset.StandardCharsets;

import io.varve.memory.offheap.Memory;

/**
 * The arguments of one command, read in place; number 0 is its name. Confined to the event loop, and valid while the
 * command runs.
 */
public interface Arguments {
    /** Longest argument that may be copied to the heap, bytes. */
    int MAX_TEXT_BYTES = 64 << 10;

    int argumentCount();

    long argumentAddress(int index);

    int argumentLength(int index);

    /** Total size of all arguments, bytes. */
    default long argumentBytes() {
        long bytes = 0;
        for (int i = 0; i < argumentCount(); i++) {
            bytes += argumentLength(i);
        }
        return bytes;
    }

    /** Whether the argument is the word, in any case. The word is upper-case ASCII. */
    default boolean argumentIs(int index, String upperCaseWord) {
        int length = argumentLength(index);
        if (length != upperCaseWord.length()) {
            return false;
        }
        long address = argumentAddress(index);
        for (int i = 0; i < length; i++) {
            byte b = Memory.getByte(address + i);
            int upper = b >= 'a' && b <= 'z' ? b - 32 : b;
            if (upper != upperCaseWord.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    /**
     * A copy of the argument's bytes. Allocates.
     *
     * @throws TextTooLongException if it has more than {@link #MAX_TEXT_BYTES}: an argument may have half a gigabyte
     */
    default byte[] argumentBytes(int index) {
        if (argumentLength(index) > MAX_TEXT_BYTES) {
            throw new TextTooLongException();
        }
        return Memory.toArray(argumentAddress(index), argumentLength(index));
    }

    /**
     * The argument as text, with invalid UTF-8 replaced. Allocates, and has the limit of {@link #argumentBytes(int)}.
     */
    default String argumentString(int index) {
        return new String(argumentBytes(index), StandardCharsets.UTF_8);
    }

    /** An option, name or setting exceeds every valid length. Immutable. */
    final class TextTooLongException extends RuntimeException {
        private static final long serialVersionUID = 1;

        TextTooLongException() {
            super("argument is too long", null, false, false);
        }
    }
}
