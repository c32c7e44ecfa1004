package io.varve.server.command;

import java.util.Arrays;

import io.varve.flash.tier.Fetch;
import io.varve.memory.item.Key;
import io.varve.server.resp.ArgumentMemory;

/** Keys of a batch on their way up from flash: which they are, and what was known of them when they were asked for. Confined to its event loop. */
final class Fetching {
    private static final int INITIAL = 8;

    /** What a key takes on the heap beside its bytes, which are there twice. */
    private static final int KEY_OVERHEAD_BYTES = 256;

    private final Fetch fetch;
    private final ArgumentMemory memory;
    private int[] indexes = new int[INITIAL];
    private int[] falls = new int[INITIAL];
    private long[] epochs = new long[INITIAL];
    private long[] hashes = new long[INITIAL];
    private long keyBytes;
    private long charged;
    private boolean room = true;

    /**
     * @param whenKnown run when all outcomes are known, by any thread
     * @param memory    what this and all others may take of the heap
     */
    Fetching(Runnable whenKnown, ArgumentMemory memory) {
        this.memory = memory;
        // The lanes have the keys until then, whatever becomes of who waits.
        fetch = new Fetch(() -> {
            release();
            whenKnown.run();
        });
    }

    Fetch fetch() {
        return fetch;
    }

    /**
     * One more.
     *
     * @param index the key's in its batch
     * @param fell  the tier's count of its falls
     */
    void add(int index, Key key, long epoch, int fell, byte[] bytes) {
        int at = fetch.size();
        if (at == indexes.length) {
            indexes = Arrays.copyOf(indexes, 2 * at);
            falls = Arrays.copyOf(falls, 2 * at);
            epochs = Arrays.copyOf(epochs, 2 * at);
            hashes = Arrays.copyOf(hashes, 2 * at);
        }
        indexes[at] = index;
        falls[at] = fell;
        epochs[at] = epoch;
        hashes[at] = key.hash();
        keyBytes += bytes.length;
        long heap = KEY_OVERHEAD_BYTES + 2L * bytes.length;
        boolean took = memory.take(heap);
        charged += took ? heap : 0;
        room &= took;
        fetch.add(key.database(), epoch, key.hash(), bytes);
    }

    /** The batch's first keys have gone, which were none of these: all others have numbers that are so much lower. */
    void keysMoved(int by) {
        for (int i = 0; i < fetch.size(); i++) {
            indexes[i] -= indexes[i] < 0 ? 0 : by;
        }
    }

    /** Of all keys. */
    long keyBytes() {
        return keyBytes;
    }

    /** Whether the heap had room for all so far: one key is asked for in any case. */
    boolean hasRoom() {
        return room;
    }

    /** The keys are not needed any more: once. */
    void release() {
        memory.give(charged);
    }

    /** Notes with the batch which were not there. @return false if memory had no room for one of these keys */
    boolean settle(Batch batch, int firstKey, int keyCount) {
        boolean room = true;
        for (int i = 0; i < fetch.size(); i++) {
            int index = indexes[i];
            switch (fetch.outcome(i)) {
                case ABSENT -> {
                    if (index == Batch.OTHER_KEY) {
                        batch.absentOthers().add(hashes[i], epochs[i], falls[i]);
                    } else {
                        batch.knownAbsent(index, epochs[i], falls[i]);
                    }
                }
                case NO_ROOM ->
                    room &= index >= 0 && (index < firstKey || index >= firstKey + keyCount);
                case BROUGHT, UNKNOWN, OTHER -> {
                    // It is in memory, or was; or the database is in another epoch. It is looked for once more. (What is asked for is never of another class.)
                }
            }
        }
        return room;
    }
}
