package io.varve.memory.collection.stream;

import io.varve.memory.offheap.Memory;

/**
 * The byte layout of a listpack, Redis's list of strings and integers. Immutable: static methods only.
 *
 * <pre>
 *  0        4          6
 *  +--------+----------+-----------+-----+-----------+------+
 *  | bytes  | elements | element 0 | ... | element n | 0xFF |
 *  | 4      | 2        |           |     |           |      |
 *  +--------+----------+-----------+-----+-----------+------+
 *
 *  element:
 *  +----------------------------+------+------------------+
 *  | kind and length or integer | text | size, backwards  |
 *  | 1 to 9                     |      | 1 to 5           |
 *  +----------------------------+------+------------------+
 *
 *  first byte   0xxxxxxx  integer of 7 bits          11110001 to 11110100  integer of 2, 3, 4, 8 bytes
 *               10xxxxxx  text of up to 63 bytes     1110xxxx  text of up to 4095 bytes, with the next byte
 *               110xxxxx  integer of 13 bits, with   11110000  text, whose length has 4 bytes
 *                         the next byte
 * </pre>
 *
 * <p>An element is named by its address. A text that is the decimal form of an integer is stored as the integer.
 * Integers and lengths are little-endian, except for those that begin in the first byte. 65535 elements means that
 * they must be counted.
 */
public final class Listpack {
    private static final int BYTES = 0;
    private static final int ELEMENTS = BYTES + Integer.BYTES;
    /** The offset of the first element. */
    public static final int HEADER_BYTES = ELEMENTS + Short.BYTES;
    /** The byte behind the last element. */
    public static final int END_BYTES = 1;
    private static final byte END = (byte) 0xFF;
    private static final int UNCOUNTED = 0xFFFF;

    private static final int TEXT_6 = 0x80;
    private static final int TEXT_6_MAX = 0x3F;
    private static final int INTEGER_13 = 0xC0;
    private static final int INTEGER_13_BITS = 13;
    private static final int INTEGER_13_MIN = -(1 << INTEGER_13_BITS - 1);
    private static final int TEXT_12 = 0xE0;
    private static final int TEXT_12_MAX = 0xFFF;
    private static final int TEXT_32 = 0xF0;
    private static final int INTEGER_16 = 0xF1;
    private static final int INTEGER_24 = 0xF2;
    private static final int INTEGER_32 = 0xF3;
    private static final int INTEGER_64 = 0xF4;
    private static final int INTEGER_24_MIN = -(1 << 23);

    private static final int SIZE_BITS = 7;
    private static final int SIZE_MASK = (1 << SIZE_BITS) - 1;
    private static final int SIZE_MORE = 1 << SIZE_BITS;
    /** The longest decimal form of an integer. */
    private static final int MAX_DIGITS = 20;

    private Listpack() {}

    // --- the whole

    public static int bytes(long listpack) {
        return Memory.getInt(listpack + BYTES);
    }

    /** Writes the sizes in front, and the end behind the last element. */
    public static void frame(long listpack, int bytes, int elements) {
        Memory.putInt(listpack + BYTES, bytes);
        Memory.putShort(listpack + ELEMENTS, (short) Math.min(elements, UNCOUNTED));
        Memory.putByte(listpack + bytes - END_BYTES, END);
    }

    /** The number of elements, 65535 if they must be counted. */
    public static int elements(long listpack) {
        return Memory.getShort(listpack + ELEMENTS) & UNCOUNTED;
    }

    public static long first(long listpack) {
        return listpack + HEADER_BYTES;
    }

    /** Whether the address behind the last element is reached. */
    public static boolean isEnd(long element) {
        return Memory.getByte(element) == END;
    }

    /** The address behind the last element. */
    public static long end(long listpack) {
        return listpack + bytes(listpack) - END_BYTES;
    }

    // --- reading

    public static boolean isInteger(long element) {
        int first = Memory.getByte(element) & 0xFF;
        return first < TEXT_6 || first >= INTEGER_13 && first < TEXT_12 || first > TEXT_32;
    }

    /** The value of an integer. */
    public static long integer(long element) {
        int first = Memory.getByte(element) & 0xFF;
        if (first < TEXT_6) {
            return first;
        }
        if (first >= INTEGER_13 && first < TEXT_12) {
            int bits = (first & TEXT_6_MAX >> 1) << Byte.SIZE | Memory.getByte(element + 1) & 0xFF;
            return (long) bits << Long.SIZE - INTEGER_13_BITS >> Long.SIZE - INTEGER_13_BITS;
        }
        return switch (first) {
            case INTEGER_16 -> Memory.getShort(element + 1);
            case INTEGER_24 -> Memory.getShort(element + 1) & 0xFFFF | Memory.getByte(element + 3) << Short.SIZE;
            case INTEGER_32 -> Memory.getInt(element + 1);
            case INTEGER_64 -> Memory.getLong(element + 1);
            default -> throw new IllegalStateException("A text where an integer must be, of kind " + first);
        };
    }

    /** The length of a text. */
    public static int textLength(long element) {
        int first = Memory.getByte(element) & 0xFF;
        return first <= (TEXT_6 | TEXT_6_MAX)
                ? first & TEXT_6_MAX
                : first < TEXT_32
                        ? (first & TEXT_12_MAX >> Byte.SIZE) << Byte.SIZE | Memory.getByte(element + 1) & 0xFF
                        : Memory.getInt(element + 1);
    }

    /** The address of a text's bytes. */
    public static long textAddress(long element) {
        int first = Memory.getByte(element) & 0xFF;
        return element + (first <= (TEXT_6 | TEXT_6_MAX) ? 1 : first < TEXT_32 ? 2 : 1 + Integer.BYTES);
    }

    /** Bytes of an element without its size at the end. */
    private static long headAndText(long element) {
        int first = Memory.getByte(element) & 0xFF;
        if (first < TEXT_6) {
            return 1;
        }
        if (first < INTEGER_13) {
            return 1L + (first & TEXT_6_MAX);
        }
        if (first < TEXT_12) {
            return 2;
        }
        return switch (first) {
            case INTEGER_16 -> 1 + Short.BYTES;
            case INTEGER_24 -> 1 + Short.BYTES + 1;
            case INTEGER_32 -> 1 + Integer.BYTES;
            case INTEGER_64 -> 1 + Long.BYTES;
            case TEXT_32 -> 1L + Integer.BYTES + Memory.getInt(element + 1);
            default -> 2L + textLength(element);
        };
    }

    /** The address behind an element. */
    public static long next(long element) {
        long bytes = headAndText(element);
        return element + bytes + sizeBytes(bytes);
    }

    /** The element before an address, which is not that of the first. */
    public static long previous(long element) {
        long at = element - 1;
        byte last = Memory.getByte(at);
        long size = last & SIZE_MASK;
        int shift = SIZE_BITS;
        while (last < 0) {
            last = Memory.getByte(--at);
            size |= (long) (last & SIZE_MASK) << shift;
            shift += SIZE_BITS;
        }
        return at - size;
    }

    /** Whether an element is this text. */
    public static boolean isText(long element, long text, int length) {
        return isInteger(element)
                ? isDecimal(text, length) && decimal(text, length) == integer(element)
                : textLength(element) == length && Memory.equal(textAddress(element), text, length);
    }

    // --- sizes

    private static int sizeBytes(long bytes) {
        return bytes <= SIZE_MASK ? 1 : bytes < 16383 ? 2 : bytes < 2097151 ? 3 : bytes < 268435455 ? 4 : 5;
    }

    /** Bytes of an integer as an element. */
    public static int integerBytes(long value) {
        return integerHead(value) + 1;
    }

    private static int integerHead(long value) {
        if (value >= 0 && value <= SIZE_MASK) {
            return 1;
        }
        if (value >= INTEGER_13_MIN && value < -INTEGER_13_MIN) {
            return 2;
        }
        if (value == (short) value) {
            return 1 + Short.BYTES;
        }
        if (value >= INTEGER_24_MIN && value < -INTEGER_24_MIN) {
            return 1 + Short.BYTES + 1;
        }
        return value == (int) value ? 1 + Integer.BYTES : 1 + Long.BYTES;
    }

    /** Bytes of a text as an element. */
    public static long textBytes(long text, int length) {
        if (isDecimal(text, length)) {
            return integerBytes(decimal(text, length));
        }
        long bytes = (length <= TEXT_6_MAX ? 1L : length <= TEXT_12_MAX ? 2 : 1 + Integer.BYTES) + length;
        return bytes + sizeBytes(bytes);
    }

    // --- writing

    /** Writes an integer; returns the address behind it. */
    public static long putInteger(long element, long value) {
        int head = integerHead(value);
        switch (head) {
            case 1 -> Memory.putByte(element, (byte) value);
            case 2 -> {
                Memory.putByte(element, (byte) (INTEGER_13 | value >> Byte.SIZE & TEXT_6_MAX >> 1));
                Memory.putByte(element + 1, (byte) value);
            }
            case 1 + Short.BYTES -> {
                Memory.putByte(element, (byte) INTEGER_16);
                Memory.putShort(element + 1, (short) value);
            }
            case 1 + Short.BYTES + 1 -> {
                Memory.putByte(element, (byte) INTEGER_24);
                Memory.putShort(element + 1, (short) value);
                Memory.putByte(element + 1 + Short.BYTES, (byte) (value >> Short.SIZE));
            }
            case 1 + Integer.BYTES -> {
                Memory.putByte(element, (byte) INTEGER_32);
                Memory.putInt(element + 1, (int) value);
            }
            default -> {
                Memory.putByte(element, (byte) INTEGER_64);
                Memory.putLong(element + 1, value);
            }
        }
        Memory.putByte(element + head, (byte) head);
        return element + head + 1;
    }

    /** Writes a text, or the integer of which it is the decimal form; returns the address behind it. */
    public static long putText(long element, long text, int length) {
        if (isDecimal(text, length)) {
            return putInteger(element, decimal(text, length));
        }
        long at = element;
        if (length <= TEXT_6_MAX) {
            Memory.putByte(at++, (byte) (TEXT_6 | length));
        } else if (length <= TEXT_12_MAX) {
            Memory.putByte(at++, (byte) (TEXT_12 | length >> Byte.SIZE));
            Memory.putByte(at++, (byte) length);
        } else {
            Memory.putByte(at++, (byte) TEXT_32);
            Memory.putInt(at, length);
            at += Integer.BYTES;
        }
        Memory.copy(text, at, length);
        return putSize(at + length, at + length - element);
    }

    private static long putSize(long address, long bytes) {
        int width = sizeBytes(bytes);
        for (int i = 0; i < width; i++) {
            int group = (int) (bytes >>> SIZE_BITS * (width - 1 - i)) & SIZE_MASK;
            Memory.putByte(address + i, (byte) (i == 0 ? group : group | SIZE_MORE));
        }
        return address + width;
    }

    // --- decimal forms

    /** Whether a text is the decimal form of an integer of 64 bits. */
    private static boolean isDecimal(long text, int length) {
        if (length == 0 || length > MAX_DIGITS) {
            return false;
        }
        byte first = Memory.getByte(text);
        if (length == 1) {
            return first >= '0' && first <= '9';
        }
        int sign = first == '-' ? 1 : 0;
        byte digit = Memory.getByte(text + sign);
        if (digit < '1' || digit > '9') {
            return false;
        }
        long value = -(long) (digit - '0');
        for (int i = sign + 1; i < length; i++) {
            digit = Memory.getByte(text + i);
            if (digit < '0' || digit > '9' || value < (Long.MIN_VALUE + (digit - '0')) / 10) {
                return false;
            }
            value = value * 10 - (digit - '0');
        }
        return sign == 1 || value != Long.MIN_VALUE;
    }

    /** The integer of which a text is the decimal form. */
    private static long decimal(long text, int length) {
        int sign = Memory.getByte(text) == '-' ? 1 : 0;
        long value = 0;
        for (int i = sign; i < length; i++) {
            value = value * 10 - (Memory.getByte(text + i) - '0');
        }
        return sign == 1 ? value : -value;
    }
}
