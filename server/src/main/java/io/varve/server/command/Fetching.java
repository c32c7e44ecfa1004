package io.varve.server.command;

import java.util.Arrays;

import io.varve.flash.tier.Fetch;
import io.varve.memory.item.Key;

/** Keys of a batch on their way up from flash: which they are, and what was known of them when they were asked for. Confined to its event loop. */
final class Fetching {
    private static final int INITIAL = 8;

    private final Fetch fetch;
    private int[] indexes = new int[INITIAL];
    private int[] falls = new int[INITIAL];
    private long[] epochs = new long[INITIAL];
    private long keyBytes;

    Fetching(Fetch fetch) {
        this.fetch = fetch;
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
        }
        indexes[at] = index;
        falls[at] = fell;
        epochs[at] = epoch;
        keyBytes += bytes.length;
        fetch.add(key.database(), epoch, key.hash(), bytes);
    }

    /** Of all keys. */
    long bytes() {
        return keyBytes;
    }

    /** Notes with the batch which were not there. @return false if memory had no room for one of these keys */
    boolean settle(Batch batch, int firstKey, int keyCount) {
        boolean room = true;
        for (int i = 0; i < fetch.size(); i++) {
            int index = indexes[i];
            switch (fetch.outcome(i)) {
                case ABSENT -> batch.knownAbsent(index, epochs[i], falls[i]);
                case NO_ROOM ->
                    room &= index != Batch.KEY_ELSEWHERE && (index < firstKey || index >= firstKey + keyCount);
                case BROUGHT -> {
                    // It is in memory, or was.
                }
            }
        }
        return room;
    }
}
