package io.varve.memory.index;

/**
 * The place of an entry that {@link Index} has found: table, home bucket, and either a slot and its bucket or, if the
 * bucket is 0, an overflow node. Guarded by the lock of the shard.
 *
 * <p>Each find writes it, and hardly any command reads it. So it is no part of the index, whose fields the next find on
 * another core reads first. It holds no reference: storing one marks a card, whose cache line many objects share.
 */
final class FoundSlot {
    /** Whether the table is the second one of a rehash. */
    boolean inTarget;
    int slot;
    long home;
    long bucket;
    @SuppressWarnings("unused") // keeps the next object off the same cache lines
    private long s0, s1, s2, s3, s4, s5, s6, s7;
}
