package io.varve.server.rdb;

/**
 * The numbers of a stream. Immutable.
 *
 * @param length entries that are not deleted
 * @param lastMs the last ID that was ever added
 * @param firstMs the ID of the first entry
 * @param deletedMs the greatest ID that was deleted, 0-0 if there is none
 * @param added entries that were ever added
 */
public record StreamFacts(long length, long lastMs, long lastSeq, long firstMs, long firstSeq, long deletedMs,
        long deletedSeq, long added) {}
