package io.varve.memory.compared;

/**
 * A cache with keys of {@value #KEY_BYTES} bytes and values of {@value #VALUE_BYTES}, sized so that all entries fit.
 * Thread-safe; each thread uses its own {@link CacheHandle}.
 *
 * <p>A key is a number to the caller. The cache converts it to bytes in the cheapest way for its own interface, and
 * copies a value that it finds into the caller's array. So all caches do equal work.
 */
public interface ComparedCache extends AutoCloseable {
    /** A key consists of {@link #KEY_PREFIX} and the number, both as 64 bits. */
    int KEY_BYTES = 16;
    int VALUE_BYTES = 100;
    long KEY_PREFIX = 0x3A72_6573_752D_7976L;

    /** A session of one thread. Confined to it. */
    interface CacheHandle {
        /** Copies the value to the start of {@code into}; false if the key is not there. */
        boolean get(long number, byte[] into);

        /** Inserts, or overwrites. The array still belongs to the caller. */
        void put(long number, byte[] value);

        void remove(long number);
    }

    CacheHandle open();

    /** Number of entries, without concurrent writers. */
    long size();

    @Override
    void close();
}
