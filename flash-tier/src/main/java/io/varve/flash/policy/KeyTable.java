package io.varve.flash.policy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * An index of keys in memory for policies that store each key: a chained hash table with numbered entries. Guarded by
 * its policy. A policy can keep more data of each entry in columns of its own. The table is off-heap and takes 16 bytes
 * a key, as the paper's does (TBF, section III).
 */
final class KeyTable {
    /** No entry. */
    static final int NONE = -1;
    /** The cache may exceed its capacity for a moment: by one key for each inserting thread. */
    private static final int SLACK = 1024;

    private final int entries;
    private final MemorySegment keys;
    /** The next entry of a chain, or of the free list. */
    private final MemorySegment chain;
    private final MemorySegment heads;
    private int free;
    private int size;

    /**
     * @param capacity number of keys, 1 to 2^31 - 1025
     * @throws IllegalArgumentException if it is too large
     */
    KeyTable(Arena arena, long capacity) {
        entries = entriesFor(capacity);
        keys = arena.allocate(entries * (long) Long.BYTES, Long.BYTES);
        chain = ints(arena, entries);
        heads = ints(arena, entries);
        heads.fill((byte) NONE);
        for (int entry = 0; entry < entries; entry++) {
            put(chain, entry, entry + 1 < entries ? entry + 1 : NONE);
        }
    }

    private static int entriesFor(long capacity) {
        if (capacity < 1 || capacity > Integer.MAX_VALUE - SLACK) {
            throw new IllegalArgumentException(
                    "A policy with an index holds 1 to " + (Integer.MAX_VALUE - SLACK) + " keys, not " + capacity);
        }
        return (int) capacity + SLACK;
    }

    /** Allocates a column of ints, one for each entry, all zero. */
    MemorySegment column(Arena arena) {
        return ints(arena, entries);
    }

    private static MemorySegment ints(Arena arena, int length) {
        return arena.allocate(length * (long) Integer.BYTES, Integer.BYTES);
    }

    static int get(MemorySegment column, int entry) {
        return column.getAtIndex(ValueLayout.JAVA_INT, entry);
    }

    static void put(MemorySegment column, int entry, int value) {
        column.setAtIndex(ValueLayout.JAVA_INT, entry, value);
    }

    int size() {
        return size;
    }

    /** Number of entries: their numbers are below it. */
    int entries() {
        return entries;
    }

    long key(int entry) {
        return keys.getAtIndex(ValueLayout.JAVA_LONG, entry);
    }

    /** @return the key's entry or {@link #NONE} */
    int find(long key) {
        int entry = get(heads, head(key));
        while (entry != NONE && key(entry) != key) {
            entry = get(chain, entry);
        }
        return entry;
    }

    /**
     * @param key one that is absent
     * @return its entry
     * @throws IllegalStateException if there are far more keys than the capacity
     */
    int insert(long key) {
        int entry = free;
        if (entry == NONE) {
            throw new IllegalStateException("More than " + entries + " keys: the cache inserted without an eviction");
        }
        free = get(chain, entry);
        keys.setAtIndex(ValueLayout.JAVA_LONG, entry, key);
        int head = head(key);
        put(chain, entry, get(heads, head));
        put(heads, head, entry);
        size++;
        return entry;
    }

    void remove(int entry) {
        int head = head(key(entry));
        int before = NONE;
        int at = get(heads, head);
        while (at != entry) {
            before = at;
            at = get(chain, at);
        }
        int behind = get(chain, entry);
        if (before == NONE) {
            put(heads, head, behind);
        } else {
            put(chain, before, behind);
        }
        put(chain, entry, free);
        free = entry;
        size--;
    }

    long ramBytes() {
        return keys.byteSize() + chain.byteSize() + heads.byteSize();
    }

    private int head(long key) {
        return (int) Math.unsignedMultiplyHigh(key, entries);
    }
}
