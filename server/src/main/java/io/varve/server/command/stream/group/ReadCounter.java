package io.varve.server.command.stream.group;

import io.varve.memory.collection.stream.StreamMetadataLayout;
import io.varve.server.command.stream.StreamId;
import io.varve.server.command.stream.StreamValue;

/**
 * Counts how many of the entries that were ever added to a stream a group has read, as far as deletions permit.
 * Immutable: static methods only.
 */
final class ReadCounter {
    /** The count is not known. */
    static final long UNKNOWN = -1;
    /** The lag is not known; it may be negative if it is. */
    static final long UNKNOWN_LAG = Long.MIN_VALUE;

    private ReadCounter() {}

    /**
     * The count of a group after one more entry is delivered.
     *
     * @param read the count so far
     * @param lastMs the group's last ID so far
     * @param ms the ID of the entry
     */
    static long after(StreamValue stream, long read, long lastMs, long lastSeq, long ms, long seq) {
        long metadata = stream.metadata();
        boolean isExact = read != UNKNOWN
                && StreamId.compare(lastMs, lastSeq, StreamMetadataLayout.firstMs(metadata),
                        StreamMetadataLayout.firstSeq(metadata)) >= 0
                && !isFragmentedFrom(stream, lastMs, lastSeq);
        if (isExact) {
            return read + 1;
        }
        return StreamMetadataLayout.added(metadata) == 0 ? read : estimate(stream, ms, seq);
    }

    /** The number of entries that a group has yet to read, or {@link #UNKNOWN_LAG}. */
    static long lag(StreamValue stream, long read, long lastMs, long lastSeq) {
        long added = StreamMetadataLayout.added(stream.metadata());
        if (added == 0) {
            return 0;
        }
        if (read != UNKNOWN && !isFragmentedFrom(stream, lastMs, lastSeq)) {
            return added - read;
        }
        long estimated = estimate(stream, lastMs, lastSeq);
        return estimated == UNKNOWN ? UNKNOWN_LAG : added - estimated;
    }

    /** Whether an entry at or behind an ID was deleted. */
    private static boolean isFragmentedFrom(StreamValue stream, long ms, long seq) {
        long metadata = stream.metadata();
        return stream.length() > 0 && hasDeleted(metadata)
                && StreamId.compare(ms, seq, StreamMetadataLayout.maxDeletedMs(metadata),
                        StreamMetadataLayout.maxDeletedSeq(metadata)) <= 0;
    }

    private static boolean hasDeleted(long metadata) {
        return (StreamMetadataLayout.maxDeletedMs(metadata) | StreamMetadataLayout.maxDeletedSeq(metadata)) != 0;
    }

    /** The number of entries up to an ID that were ever added, or {@link #UNKNOWN}. */
    private static long estimate(StreamValue stream, long ms, long seq) {
        long metadata = stream.metadata();
        long added = StreamMetadataLayout.added(metadata);
        if (added == 0) {
            return 0;
        }
        int toLast = StreamId.compare(ms, seq, stream.lastMs(), stream.lastSeq());
        if (stream.length() == 0 && toLast <= 0) {
            return added;
        }
        long deletedMs = StreamMetadataLayout.maxDeletedMs(metadata);
        long deletedSeq = StreamMetadataLayout.maxDeletedSeq(metadata);
        if ((ms | seq) != 0 && StreamId.compare(ms, seq, deletedMs, deletedSeq) < 0) {
            return UNKNOWN;
        }
        if (toLast >= 0) {
            return toLast == 0 ? added : UNKNOWN;
        }
        long firstMs = StreamMetadataLayout.firstMs(metadata);
        long firstSeq = StreamMetadataLayout.firstSeq(metadata);
        int toFirst = StreamId.compare(ms, seq, firstMs, firstSeq);
        boolean isWhole = !hasDeleted(metadata) || StreamId.compare(deletedMs, deletedSeq, firstMs, firstSeq) < 0;
        return isWhole && toFirst <= 0 ? added - stream.length() + (toFirst == 0 ? 1 : 0) : UNKNOWN;
    }
}
