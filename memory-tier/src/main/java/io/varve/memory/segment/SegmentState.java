package io.varve.memory.segment;

/**
 * The state of a segment. Immutable; the lock of the owning shard guards a segment's state, and the pool's lock that of
 * FREE ones.
 *
 * <pre>
 *            open             seal             beginClean
 *    FREE ----------> OPEN ----------> SEALED ------------> CLEANING
 *     ^                |                |  ^                 |  |
 *     |                |                |  +-----------------+  |
 *     |                |                |       abortClean      |
 *     |  free: nothing |          free: |                       |
 *     +- lives in it --+- nothing lives +-----------------------+
 *                           in it            endClean
 * </pre>
 */
public enum SegmentState {
    /** In the pool. */
    FREE,
    /** An open segment: items are appended to it. */
    OPEN,
    /** Full, or closed early: items only die in it. */
    SEALED,
    /** Its live items are being moved out; nothing is appended, and only the end of the cleaning frees it. */
    CLEANING;

    /** A shard takes a segment from the pool. */
    SegmentState open() {
        return require(this == FREE, OPEN);
    }

    /** The segment takes no more items. */
    SegmentState seal() {
        return require(this == OPEN, SEALED);
    }

    SegmentState beginClean() {
        return require(this == SEALED, CLEANING);
    }

    SegmentState abortClean() {
        return require(this == CLEANING, SEALED);
    }

    SegmentState endClean() {
        return require(this == CLEANING, FREE);
    }

    /** It has no live items, and it is not being cleaned. */
    SegmentState free() {
        return require(this == OPEN || this == SEALED, FREE);
    }

    private SegmentState require(boolean legal, SegmentState next) {
        if (!legal) {
            throw new IllegalStateException("A segment cannot change from " + this + " to " + next);
        }
        return next;
    }
}
