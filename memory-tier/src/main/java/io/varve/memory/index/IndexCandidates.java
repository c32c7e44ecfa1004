package io.varve.memory.index;

import org.jspecify.annotations.Nullable;

/**
 * The locations at which the item of a hash may be: a search of an {@link Index} without the lock. Confined to one
 * thread.
 *
 * <p>SAFETY: another thread may change the index meanwhile, so any location may be stale or garbage. The caller checks
 * a location before it reads there, and uses nothing unless the shard's version is unchanged at the end ({@code
 * ShardLock.isUnchanged}). The reads are of memory that stays mapped.
 */
public final class IndexCandidates {
    /** A result of {@link #next}: only a search under the lock finds the rest, as it may be in the overflow. */
    public static final long UNKNOWN = -2;

    private static final int HOME = 0;
    private static final int EXTENSION = 1;
    private static final int END = 2;

    /** The address and the mask of the table that is searched. */
    private long table;
    private long mask;
    /** The table to search after it; null if there is none. */
    private @Nullable IndexTable second;
    private long hash;
    private long home;
    private int stage;
    /** The bucket that is searched, and its slots that were not returned yet. */
    private long bucket;
    private int slots;

    public IndexCandidates() {}

    /** Begins a search. */
    public void search(Index index, long keyHash) {
        hash = keyHash;
        second = index.searchedSecond(keyHash);
        enter(index.searchedFirst(keyHash));
    }

    private void enter(IndexTable entered) {
        table = entered.address;
        mask = entered.mask;
        home = IndexBucketLayout.address(table, IndexBucketLayout.home(hash, mask));
        stage = HOME;
        enterBucket(home);
    }

    private void enterBucket(long address) {
        bucket = address;
        slots = IndexBucketLayout.peekMatches(address, IndexBucketLayout.tag(hash));
    }

    /** The next location, {@link Index#NONE} at the end, or {@link #UNKNOWN}. */
    public long next() {
        while (slots == 0) {
            if (!advance()) {
                return stage == END ? Index.NONE : UNKNOWN;
            }
        }
        int slot = Integer.numberOfTrailingZeros(slots);
        slots &= slots - 1;
        return IndexBucketLayout.peekLocation(bucket, slot);
    }

    /** Goes on to the next bucket. @return false at the end, or if only a search under the lock can go on */
    private boolean advance() {
        if (stage == HOME) {
            stage = EXTENSION;
            long extension = IndexBucketLayout.peekNext(home);
            if (extension != IndexBucketLayout.NO_BUCKET) {
                // SAFETY: this read may return anything, so a number beyond the table is not followed.
                if (extension < 0 || extension > mask) {
                    return false;
                }
                enterBucket(IndexBucketLayout.address(table, extension));
                return true;
            }
        }
        if (IndexBucketLayout.peekOverflowed(home)) {
            return false;
        }
        IndexTable following = second;
        if (following == null) {
            stage = END;
            return false;
        }
        second = null;
        enter(following);
        return true;
    }
}
