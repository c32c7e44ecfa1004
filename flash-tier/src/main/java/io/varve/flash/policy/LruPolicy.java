package io.varve.flash.policy;

import java.lang.foreign.Arena;

/** LRU: evicts the least recently used key. Guarded by {@code this}; 24 bytes a key. */
public final class LruPolicy extends IndexedPolicy {
    private final KeyQueue.Links links;
    private final KeyQueue recent;

    /** @param capacity number of keys that the cache holds, 1 to 2^31 - 1025 */
    public LruPolicy(Arena arena, long capacity) {
        super(arena, capacity);
        links = KeyQueue.Links.of(table(), arena);
        recent = new KeyQueue(links);
    }

    @Override
    void used(int entry) {
        recent.remove(entry);
        recent.addHead(entry);
    }

    @Override
    void added(int entry) {
        recent.addHead(entry);
    }

    @Override
    void entryRemoved(int entry) {
        recent.remove(entry);
    }

    @Override
    int choose() {
        countVisit();
        int oldest = recent.tail();
        recent.remove(oldest);
        return oldest;
    }

    @Override
    public long ramBytes() {
        return table().ramBytes() + links.ramBytes();
    }
}
