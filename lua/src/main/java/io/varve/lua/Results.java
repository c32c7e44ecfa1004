package io.varve.lua;

import java.util.Arrays;

/**
 * No value or several values, returned by a function. Each state has one, so a caller reads it before it calls
 * anything else. Confined to the state's thread.
 */
public final class Results {
    private static final int KEPT = 64;
    Object[] values = new Object[8];
    int count;

    Results() {}

    public int count() {
        return count;
    }

    /** @param index from 1; nil beyond the last */
    public Object get(int index) {
        return index <= count ? values[index - 1] : null;
    }

    /** The values, of which the first {@link #count} are valid. */
    public Object[] array() {
        return values;
    }

    /** Copies the values. */
    public void copyTo(Object[] target, int offset) {
        System.arraycopy(values, 0, target, offset, count);
    }

    Results set(Object[] source, int offset, int length) {
        ensure(length);
        System.arraycopy(source, offset, values, 0, length);
        count = length;
        return this;
    }

    void ensure(int length) {
        if (values.length < length) {
            values = Arrays.copyOf(values, Math.max(length, 2 * values.length));
        }
    }

    void clear() {
        count = 0;
        if (values.length > KEPT) {
            values = new Object[KEPT];
        } else {
            Arrays.fill(values, null);
        }
    }
}
