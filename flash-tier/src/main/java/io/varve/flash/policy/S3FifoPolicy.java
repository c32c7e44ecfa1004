package io.varve.flash.policy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * S3-FIFO (Yang and others, SOSP 2023): new keys pass through a small queue of a tenth of the cache. Guarded by {@code
 * this}.
 *
 * <p>Keys that were used more than once there enter the main queue. The others are evicted and remembered for a while;
 * if they return, they enter the main queue at once. It takes 25 bytes a key, and 24 for each remembered one, of which
 * there are nine for ten keys.
 */
public final class S3FifoPolicy extends IndexedPolicy {
    /** Share of the cache for the small queue. */
    private static final double SMALL_SHARE = 0.1;
    private static final byte MAX_USES = 3;
    private static final byte IN_MAIN = 4;
    private static final byte USES = 3;

    private final KeyQueue.Links links;
    private final KeyQueue small;
    private final KeyQueue main;
    /** By entry: its number of uses, up to 3, and its queue. */
    private final MemorySegment state;
    private final long smallKeys;
    private final long ghostKeys;
    private final KeyTable ghosts;
    private final KeyQueue.Links ghostLinks;
    private final KeyQueue ghostQueue;

    /** @param capacity number of keys that the cache holds, 1 to 2^31 - 1025 */
    public S3FifoPolicy(Arena arena, long capacity) {
        super(arena, capacity);
        links = KeyQueue.Links.of(table(), arena);
        small = new KeyQueue(links);
        main = new KeyQueue(links);
        state = arena.allocate(table().entries());
        smallKeys = Math.max(1, Math.round(capacity * SMALL_SHARE));
        ghostKeys = Math.max(1, capacity - smallKeys);
        ghosts = new KeyTable(arena, ghostKeys);
        ghostLinks = KeyQueue.Links.of(ghosts, arena);
        ghostQueue = new KeyQueue(ghostLinks);
    }

    @Override
    void used(int entry) {
        byte is = state(entry);
        if ((is & USES) < MAX_USES) {
            state(entry, (byte) (is + 1));
        }
    }

    @Override
    void added(int entry) {
        int ghost = ghosts.find(table().key(entry));
        if (ghost == KeyTable.NONE) {
            state(entry, (byte) 0);
            small.addHead(entry);
        } else {
            ghostQueue.remove(ghost);
            ghosts.remove(ghost);
            state(entry, IN_MAIN);
            main.addHead(entry);
        }
    }

    @Override
    void entryRemoved(int entry) {
        queueOf(entry).remove(entry);
    }

    @Override
    int choose() {
        while (true) {
            boolean fromSmall = small.size() >= smallKeys || main.size() == 0;
            KeyQueue queue = fromSmall ? small : main;
            int entry = queue.tail();
            int uses = state(entry) & USES;
            countVisit();
            queue.remove(entry);
            if (fromSmall ? uses <= 1 : uses == 0) {
                if (fromSmall) {
                    remember(table().key(entry));
                }
                return entry;
            }
            state(entry, (byte) (IN_MAIN | (fromSmall ? 0 : uses - 1)));
            main.addHead(entry);
        }
    }

    private void remember(long key) {
        if (ghosts.size() >= ghostKeys) {
            int oldest = ghostQueue.tail();
            ghostQueue.remove(oldest);
            ghosts.remove(oldest);
        }
        ghostQueue.addHead(ghosts.insert(key));
    }

    private KeyQueue queueOf(int entry) {
        return (state(entry) & IN_MAIN) != 0 ? main : small;
    }

    private byte state(int entry) {
        return state.get(ValueLayout.JAVA_BYTE, entry);
    }

    private void state(int entry, byte is) {
        state.set(ValueLayout.JAVA_BYTE, entry, is);
    }

    @Override
    public long ramBytes() {
        return table().ramBytes() + links.ramBytes() + state.byteSize() + ghosts.ramBytes() + ghostLinks.ramBytes();
    }
}
