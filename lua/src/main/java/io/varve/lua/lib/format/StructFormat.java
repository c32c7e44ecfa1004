package io.varve.lua.lib.format;

import io.varve.lua.Arguments;
import io.varve.lua.LuaString;

/** Reads the format of the library {@code struct}, option by option. Confined to the state's thread. */
final class StructFormat {
    private static final int MAX_INTEGER_SIZE = 32;
    private static final int DEFAULT_ALIGNMENT = 8;

    private final Arguments arguments;
    private final LuaString format;
    private int at;
    private boolean littleEndian = true;
    private int alignment = 1;
    private int option;
    private int size;

    StructFormat(Arguments arguments, LuaString format) {
        this.arguments = arguments;
        this.format = format;
    }

    /** Goes to the next option; false at the end, which is the first zero byte. */
    boolean next() {
        option = current();
        if (option == 0) {
            return false;
        }
        at++;
        size = switch (option) {
            case 'B', 'b', 'x' -> 1;
            case 'H', 'h' -> 2;
            case 'L', 'l', 'T', 'd' -> 8;
            case 'f' -> 4;
            case 'c' -> number(1);
            case 'i', 'I' -> integerSize();
            default -> 0;
        };
        return true;
    }

    int option() {
        return option;
    }

    /** The bytes that the option takes; 0 if its value decides or it takes none. */
    int size() {
        return size;
    }

    boolean isLittleEndian() {
        return littleEndian;
    }

    /** Whether the option is an integer. */
    boolean isInteger() {
        return switch (option) {
            case 'b', 'B', 'h', 'H', 'l', 'L', 'T', 'i', 'I' -> true;
            default -> false;
        };
    }

    boolean isSigned() {
        return option >= 'a';
    }

    /** The padding before the option at a position. */
    int padding(long position) {
        if (size == 0 || option == 'c') {
            return 0;
        }
        int aligned = Math.min(size, alignment);
        return aligned - (int) (position & aligned - 1) & aligned - 1;
    }

    /** Applies an option that takes no value. */
    void control() {
        switch (option) {
            case ' ' -> {
            }
            case '>' -> littleEndian = false;
            case '<' -> littleEndian = true;
            case '!' -> {
                int wanted = number(DEFAULT_ALIGNMENT);
                if (Integer.bitCount(wanted) != 1) {
                    throw arguments.error("alignment " + wanted + " is not a power of 2");
                }
                alignment = wanted;
            }
            default -> throw arguments.argumentError(1, "invalid format option '" + (char) option + "'");
        }
    }

    private int current() {
        return at < format.length() ? format.byteAt(at) : 0;
    }

    private int integerSize() {
        int wanted = number(Integer.BYTES);
        if (wanted > MAX_INTEGER_SIZE) {
            throw arguments.error(
                    "integral size " + wanted + " is larger than limit of " + MAX_INTEGER_SIZE);
        }
        return wanted;
    }

    private int number(int otherwise) {
        int c = current();
        if (c < '0' || c > '9') {
            return otherwise;
        }
        long value = 0;
        while (c >= '0' && c <= '9') {
            value = value * 10 + c - '0';
            if (value > Integer.MAX_VALUE) {
                throw arguments.error("integral size overflow");
            }
            at++;
            c = current();
        }
        return (int) value;
    }
}
