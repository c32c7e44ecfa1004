package io.varve.memory.item;

/**
 * The memory of one large value: a mapped run of its own with a reference count. Thread-safe: the count is atomic. A
 * reply can send the run in slices without the shard's lock, even while the key is overwritten or deleted.
 */
public interface ValueRun {
    /** The address of the value's bytes. */
    long address();

    /** The length of the value in bytes. */
    int length();

    /** Bytes before the value, for an item's header and key. */
    int headroom();

    /** Adds a holder. Only while some holder (the shard, under its lock, or the caller) is known to hold it. */
    void retain();

    /** Removes a holder; the last one frees the memory. */
    void release();
}
