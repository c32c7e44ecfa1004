package io.varve.lua.text;

/**
 * One conversion of C's {@code printf}, such as {@code %-08.3f}. Immutable.
 *
 * @param flags
 *            the sum of the flags
 * @param width
 *            the least number of characters
 * @param precision
 *            the digits after the point, or -1 if not given
 * @param conversion
 *            the letter
 */
public record FormatSpec(int flags, int width, int precision, int conversion) {
    /** Flag {@code -}. */
    public static final int LEFT = 1;
    /** Flag {@code +}. */
    public static final int PLUS = 2;
    /** Flag of a space. */
    public static final int SPACE = 4;
    /** Flag {@code #}. */
    public static final int ALTERNATE = 8;
    /** Flag {@code 0}. */
    public static final int ZERO = 16;

    /** The flag of a character, or 0. */
    public static int flag(int character) {
        return switch (character) {
            case '-' -> LEFT;
            case '+' -> PLUS;
            case ' ' -> SPACE;
            case '#' -> ALTERNATE;
            case '0' -> ZERO;
            default -> 0;
        };
    }

    boolean has(int flag) {
        return (flags & flag) != 0;
    }
}
