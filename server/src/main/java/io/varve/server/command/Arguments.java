package io.varve.server.command;

import java.nio.charset.StandardCharsets;

import io.varve.memory.offheap.Memory;

/**
 * The arguments of one command where they lie, its name included as number 0. Confined to the event loop, and valid
 * while the command runs.
 */
public interface Arguments {
    /** A longer argument is never copied to the heap, bytes. */
    int MAX_TEXT_BYTES = 64 << 10;

    int argumentCount();

    long argumentAddress(int index);

    int argumentLength(int index);

    /** What all of them take, bytes. */
    default long argumentBytes() {
        long bytes = 0;
        for (int i = 0; i < argumentCount(); i++) {
            bytes += argumentLength(i);
        }
        return bytes;
    }

    /** Whether the argument is the word, in any case. The word is ASCII in upper case. */
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
     * The bytes, copied. Allocates.
     *
     * @throws TextTooLongException if there are more than {@link #MAX_TEXT_BYTES}: an argument may have half a gigabyte
     */
    default byte[] argumentBytes(int index) {
        if (argumentLength(index) > MAX_TEXT_BYTES) {
            throw new TextTooLongException();
        }
        return Memory.toArray(argumentAddress(index), argumentLength(index));
    }

    /** The text, invalid UTF-8 replaced. Allocates, and has the same limit. */
    default String argumentString(int index) {
        return new String(argumentBytes(index), StandardCharsets.UTF_8);
    }

    /** An option, a name or a setting that is longer than any can be. Immutable. */
    final class TextTooLongException extends RuntimeException {
        private static final long serialVersionUID = 1;

        TextTooLongException() {
            super("argument is too long", null, false, false);
        }
    }
}
