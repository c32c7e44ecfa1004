package io.varve.server.command.stream;

import io.varve.memory.collection.stream.BlockCursor;

/** The bound of a trim: a maximal length or a minimal ID. Confined to its event loop; reused. */
public final class StreamTrim {
    private boolean isById;
    private long maxLength;
    private long minMs;
    private long minSeq;

    /** Keeps the last entries, so many. */
    public void byLength(long length) {
        isById = false;
        maxLength = length;
    }

    /** The length of {@link #byLength}. */
    long maxLength() {
        return maxLength;
    }

    /** Keeps entries with at least this ID. */
    public void byId(long ms, long seq) {
        isById = true;
        minMs = ms;
        minSeq = seq;
    }

    /** Whether nothing is left to trim in a stream of this length, as far as the length shows. */
    boolean isMet(long length) {
        return !isById && Long.compareUnsigned(length, maxLength) <= 0;
    }

    /** Whether a block with so many entries is to be deleted. Moves the cursor. */
    boolean coversBlock(long length, long entries, BlockCursor cursor) {
        return isById
                ? cursor.last() && StreamId.compare(cursor.ms(), cursor.seq(), minMs, minSeq) < 0
                : length - entries >= maxLength;
    }

    /** Whether the cursor's entry is to be deleted from a stream of this length. */
    boolean covers(long length, BlockCursor cursor) {
        return isById ? StreamId.compare(cursor.ms(), cursor.seq(), minMs, minSeq) < 0 : length > maxLength;
    }
}
