package io.varve.memory.item;

/**
 * The memory of one large value: a mapped run of its own, counted by reference, so that a reply can go out in slices
 * without the shard's lock while the key is overwritten or deleted. Many threads: the count is atomic.
 */
public interface ValueRun {
    /** Where the value's bytes start. */
    long address();

    /** Bytes of the value. */
    int length();

    /** Bytes in front of the value, for an item's header and key. */
    int headRoom();

    /** One more holder. Only while some holder (the shard, under its lock, or the caller) is known to have it. */
    void retain();

    /** One holder less; the last one gives the memory back. */
    void release();
}
