package io.varve.lua.text;

import java.util.Arrays;

/**
 * A growing array of bytes. Confined to one thread. A subclass may refuse to grow, for example because a script would
 * exceed its memory.
 */
public class ByteBuilder {
    private static final int MAX_LENGTH = Integer.MAX_VALUE - 64;

    private byte[] bytes;
    private int length;

    /** A builder whose first array has this many bytes. */
    public ByteBuilder(int capacity) {
        bytes = new byte[capacity];
    }

    /** Appends one byte. */
    public final ByteBuilder append(int b) {
        if (length == bytes.length) {
            grow(1);
        }
        bytes[length++] = (byte) b;
        return this;
    }

    /** Appends all bytes of an array. */
    public final ByteBuilder append(byte[] source) {
        return append(source, 0, source.length);
    }

    /** Appends {@code count} bytes from {@code from} on. */
    public final ByteBuilder append(byte[] source, int from, int count) {
        if (count > bytes.length - length) {
            grow(count);
        }
        System.arraycopy(source, from, bytes, length, count);
        length += count;
        return this;
    }

    /** Appends a text of Latin-1 characters. */
    public final ByteBuilder append(String latin1) {
        int count = latin1.length();
        if (count > bytes.length - length) {
            grow(count);
        }
        for (int i = 0; i < count; i++) {
            bytes[length++] = (byte) latin1.charAt(i);
        }
        return this;
    }

    /** Appends the same byte {@code count} times; none if the count is negative. */
    public final ByteBuilder fill(int b, int count) {
        if (count > bytes.length - length) {
            grow(count);
        }
        if (count > 0) {
            Arrays.fill(bytes, length, length + count, (byte) b);
            length += count;
        }
        return this;
    }

    /** The number of bytes. */
    public final int length() {
        return length;
    }

    /** The byte at an index below {@link #length()}. */
    public final byte byteAt(int index) {
        return bytes[index];
    }

    /** Cuts off everything after the first {@code newLength} bytes. */
    public final void truncate(int newLength) {
        length = Math.min(length, newLength);
    }

    /** The bytes, in an array of their own. */
    public final byte[] toByteArray() {
        return Arrays.copyOf(bytes, length);
    }

    /**
     * Is called before the array grows.
     *
     * @param newCapacity
     *            the new size of the array
     */
    protected void beforeGrowth(long newCapacity) {
        if (newCapacity > MAX_LENGTH) {
            throw new IllegalStateException("text of " + newCapacity + " bytes");
        }
    }

    private void grow(int more) {
        long needed = (long) length + more;
        long capacity = Math.max(needed, Math.min(bytes.length + (bytes.length >> 1) + 16L, MAX_LENGTH));
        beforeGrowth(capacity);
        bytes = Arrays.copyOf(bytes, (int) capacity);
    }
}
