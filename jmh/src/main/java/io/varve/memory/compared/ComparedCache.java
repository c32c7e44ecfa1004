package io.varve.memory.compared;

/**
 * A cache with keys of {@value #KEY_BYTES} bytes and values of {@value #VALUE_BYTES}, sized so that all entries fit.
 * Thread-safe; each thread goes through a {@link Door} of its own.
 *
 * <p>A key is a number to the caller. The cache makes those bytes of it that its own interface takes with the least work, and
 * copies a value that it finds into the caller's array: in the end each has done the same.
 */
public interface ComparedCache extends AutoCloseable {
    /** Of a key: {@link #KEY_PREFIX} and the number, both as 64 bits. */
    int KEY_BYTES = 16;
    int VALUE_BYTES = 100;
    long KEY_PREFIX = 0x3A72_6573_752D_7976L;

    /** A way in for one thread. Confined to it. */
    interface Door {
        /** Copies the value to the start of {@code into}; false if the key is not there. */
        boolean get(long number, byte[] into);

        /** Inserts, or overwrites. The array stays the caller's. */
        void put(long number, byte[] value);

        void remove(long number);
    }

    Door open();

    /** Entries, once nobody writes. */
    long size();

    @Override
    void close();
}
