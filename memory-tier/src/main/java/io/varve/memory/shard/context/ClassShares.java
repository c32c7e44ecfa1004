package io.varve.memory.shard.context;

import java.util.stream.IntStream;

import io.varve.memory.locality.partition.PenaltyRanges;
import org.jspecify.annotations.Nullable;

/**
 * The shares of the penalty classes in memory, as the last partitioning computed them. Immutable: no code changes the
 * arrays.
 */
public final class ClassShares {
    /** No partitioning yet: there are no shares, and each class is a group of its own. */
    static final ClassShares NONE = new ClassShares(null, IntStream.range(0, PenaltyRanges.MAX_CLASSES).toArray());

    private final double @Nullable [] shares;
    private final int[] groups;

    /**
     * @param shares must not be changed later
     * @param groups must not be changed later
     */
    ClassShares(double @Nullable [] shares, int[] groups) {
        this.shares = shares;
        this.groups = groups;
    }

    /** By class, its share in the bytes of all items, 0 to 1; null if memory is not partitioned. */
    public double @Nullable [] shares() {
        return shares;
    }

    /** By class, the first class of the group with which it has a common share. */
    public int[] groups() {
        return groups;
    }
}
