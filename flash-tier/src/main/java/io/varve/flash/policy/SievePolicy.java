package io.varve.flash.policy;

import java.lang.foreign.Arena;
import java.util.BitSet;

/**
 * SIEVE (Zhang and others, NSDI 2024): a queue in arrival order, in which a used key keeps its place. Guarded by {@code
 * this}; 24 bytes and a bit a key. The hand moves from the tail to the head, skips each used key once, and starts
 * again at the tail.
 */
public final class SievePolicy extends IndexedPolicy {
    private final KeyQueue.Links links;
    private final KeyQueue arrivals;
    private final BitSet visited;
    private int hand = KeyTable.NONE;

    /** @param capacity number of keys that the cache holds, 1 to 2^31 - 1025 */
    public SievePolicy(Arena arena, long capacity) {
        super(arena, capacity);
        links = KeyQueue.Links.of(table(), arena);
        arrivals = new KeyQueue(links);
        visited = new BitSet(table().entries());
    }

    @Override
    void used(int entry) {
        visited.set(entry);
    }

    @Override
    void added(int entry) {
        visited.clear(entry);
        arrivals.addHead(entry);
    }

    @Override
    void entryRemoved(int entry) {
        if (entry == hand) {
            hand = arrivals.newer(entry);
        }
        arrivals.remove(entry);
    }

    @Override
    int choose() {
        int entry = hand == KeyTable.NONE ? arrivals.tail() : hand;
        countVisit();
        while (visited.get(entry)) {
            visited.clear(entry);
            int newer = arrivals.newer(entry);
            entry = newer == KeyTable.NONE ? arrivals.tail() : newer;
            countVisit();
        }
        hand = arrivals.newer(entry);
        arrivals.remove(entry);
        return entry;
    }

    @Override
    public long ramBytes() {
        return table().ramBytes() + links.ramBytes() + visited.size() / Byte.SIZE;
    }
}
