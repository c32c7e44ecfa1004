package io.varve.server.command.batch;

import java.util.Arrays;

import org.jspecify.annotations.Nullable;

/**
 * The results of flash lookups for the keys of a batch: the pending fetch, and the keys that were not found. Confined
 * to the event loop of the batch.
 */
public final class FlashLookups {
    /** Table bytes of a key that is recorded as absent. */
    private static final int ABSENT_BYTES = 13;
    /** Larger tables are freed. */
    private static final int MAX_KEPT = 16 << 10;
    private static final long[] NO_LONGS = {};
    private static final int[] NO_INTS = {};
    private static final boolean[] NO_FLAGS = {};

    /**
     * Keys that were fetched from flash and not found, each with its epoch and the tier's demotion count at that time.
     * Empty until there is one. The first place is for {@link Batch#KEY_IN_OTHER_DATABASE}.
     */
    private long[] absentEpochs = NO_LONGS;
    private int[] absentDemotions = NO_INTS;
    private boolean[] absent = NO_FLAGS;
    private NegativeLookupCache absentOthers = new NegativeLookupCache();
    private @Nullable PendingFetch pendingFetch;
    private int fetches;

    /** Approximate heap size, bytes. */
    long heapBytes() {
        return ABSENT_BYTES * (long) absent.length + absentOthers.heapBytes();
    }

    /** Takes over the results for the keys from number {@code firstKey} on; this object is not used afterwards. */
    FlashLookups from(int firstKey, int keyTotal) {
        FlashLookups rest = new FlashLookups();
        rest.fetches = fetches;
        rest.pendingFetch = pendingFetch;
        rest.absentOthers = absentOthers;
        if (pendingFetch != null) {
            pendingFetch.keysMoved(firstKey);
        }
        for (int i = firstKey; i < keyTotal && i + 1 < absent.length; i++) {
            if (absent[i + 1]) {
                rest.addAbsent(i - firstKey, absentEpochs[i + 1], absentDemotions[i + 1]);
            }
        }
        int inOtherDatabase = Batch.KEY_IN_OTHER_DATABASE + 1;
        if (absent.length > 0 && absent[inOtherDatabase]) {
            rest.addAbsent(Batch.KEY_IN_OTHER_DATABASE, absentEpochs[inOtherDatabase],
                    absentDemotions[inOtherDatabase]);
        }
        return rest;
    }

    /** Records a fetch of keys for the next command. */
    public void begin(PendingFetch keys) {
        pendingFetch = keys;
        fetches++;
    }

    /** Returns and clears the latest fetch; null if there is none. */
    public @Nullable PendingFetch takePending() {
        PendingFetch keys = pendingFetch;
        pendingFetch = null;
        return keys;
    }

    /** Number of key fetches for the next command. */
    public int count() {
        return fetches;
    }

    /**
     * Resets the state after a command's reply. Absence results for its keys in another database, and for keys it does
     * not name, do not apply to the following command.
     */
    public void endCommand() {
        fetches = 0;
        pendingFetch = null;
        absentOthers.clear();
        if (absent.length > 0) {
            absent[Batch.KEY_IN_OTHER_DATABASE + 1] = false;
        }
    }

    /**
     * Records that a key was not on flash.
     *
     * @param keyIndex its number in the batch, or {@link Batch#KEY_IN_OTHER_DATABASE}
     * @param epoch the epoch of its database at that time
     * @param demotions the tier's demotion count for the key at that time
     */
    void addAbsent(int keyIndex, long epoch, int demotions) {
        int at = keyIndex + 1;
        if (at >= absent.length) {
            int size = Math.max(at + 1, 2 * absent.length);
            absent = Arrays.copyOf(absent, size);
            absentEpochs = Arrays.copyOf(absentEpochs, size);
            absentDemotions = Arrays.copyOf(absentDemotions, size);
        }
        absent[at] = true;
        absentEpochs[at] = epoch;
        absentDemotions[at] = demotions;
    }

    /** Whether a key was not on flash, in this epoch and at this demotion count. */
    public boolean isAbsent(int keyIndex, long epoch, int demotions) {
        int at = keyIndex + 1;
        return at < absent.length && absent[at] && absentEpochs[at] == epoch && absentDemotions[at] == demotions;
    }

    /** Absent keys that the next command does not name. */
    public NegativeLookupCache absentOthers() {
        return absentOthers;
    }

    /** Forgets everything, for the next batch. */
    void clear() {
        forgetAbsent();
        pendingFetch = null;
    }

    /** Forgets the keys that were not found. */
    void forgetAbsent() {
        fetches = 0;
        absentOthers.clear();
        if (absent.length > MAX_KEPT) {
            absent = NO_FLAGS;
            absentEpochs = NO_LONGS;
            absentDemotions = NO_INTS;
        } else if (absent.length > 0) {
            Arrays.fill(absent, false);
        }
    }
}
