package io.varve.server.command.batch;

import java.util.Arrays;

import io.varve.flash.tier.Fetch;
import io.varve.memory.item.Key;
import io.varve.server.resp.RequestHeapBudget;

/** Keys of a batch that are being fetched from flash, with their state at the request. Confined to its event loop. */
public final class PendingFetch {
    private static final int INITIAL = 8;

    /** Heap bytes of a key beside its own bytes, which exist twice. */
    private static final int KEY_OVERHEAD_BYTES = 256;

    private final Fetch fetch;
    private final RequestHeapBudget memory;
    private int[] indexes = new int[INITIAL];
    private int[] demotions = new int[INITIAL];
    private long[] epochs = new long[INITIAL];
    private long[] hashes = new long[INITIAL];
    private long keyBytes;
    private long charged;
    private boolean fits = true;

    /**
     * @param onComplete runs when all outcomes are known, on any thread
     * @param memory heap budget shared with all other fetches
     */
    public PendingFetch(Runnable onComplete, RequestHeapBudget memory) {
        this.memory = memory;
        // The flash workers use the keys until then, even if the waiting client disconnects.
        fetch = new Fetch(() -> {
            release();
            onComplete.run();
        });
    }

    public Fetch fetch() {
        return fetch;
    }

    /**
     * Adds a key.
     *
     * @param index the key's number in its batch
     * @param demotionCount the tier's demotion count for the key
     */
    public void add(int index, Key key, long epoch, int demotionCount, byte[] bytes) {
        int at = fetch.size();
        if (at == indexes.length) {
            indexes = Arrays.copyOf(indexes, 2 * at);
            demotions = Arrays.copyOf(demotions, 2 * at);
            epochs = Arrays.copyOf(epochs, 2 * at);
            hashes = Arrays.copyOf(hashes, 2 * at);
        }
        indexes[at] = index;
        demotions[at] = demotionCount;
        epochs[at] = epoch;
        hashes[at] = key.hash();
        keyBytes += bytes.length;
        long heap = KEY_OVERHEAD_BYTES + 2L * bytes.length;
        boolean took = memory.tryReserve(heap);
        charged += took ? heap : 0;
        fits &= took;
        fetch.add(key.database(), epoch, key.hash(), bytes);
    }

    /** Renumbers the keys after the batch has dropped its first {@code by} keys, none of which are in this fetch. */
    void keysMoved(int by) {
        for (int i = 0; i < fetch.size(); i++) {
            indexes[i] -= indexes[i] < 0 ? 0 : by;
        }
    }

    /** Total of all keys. */
    public long keyBytes() {
        return keyBytes;
    }

    /** Whether the heap budget had space for all keys so far; the first key is fetched in any case. */
    public boolean fits() {
        return fits;
    }

    /** Releases the heap budget; call it once. */
    public void release() {
        memory.release(charged);
    }

    /** Records the absent keys in the batch. @return false if memory had no space for one of these keys */
    public boolean settle(Batch batch, int firstKey, int keyCount) {
        boolean fits = true;
        for (int i = 0; i < fetch.size(); i++) {
            int index = indexes[i];
            switch (fetch.outcome(i)) {
                case ABSENT -> {
                    if (index == Batch.OTHER_KEY) {
                        batch.flashLookups().absentOthers().add(hashes[i], epochs[i], demotions[i]);
                    } else {
                        batch.flashLookups().addAbsent(index, epochs[i], demotions[i]);
                    }
                }
                case NO_SPACE ->
                    fits &= index >= 0 && (index < firstKey || index >= firstKey + keyCount);
                case PROMOTED, UNKNOWN, OTHER, CONTENDED -> {
                    // The key is in memory, or was; or the database has another epoch. The command looks the key up
                    // again. (A fetched key never has another class.)
                }
            }
        }
        return fits;
    }
}
