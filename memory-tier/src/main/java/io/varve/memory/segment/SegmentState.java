package io.varve.memory.segment;

/**
 * What a segment is doing. Immutable; a segment's state is guarded by the lock of the shard that owns it, and FREE ones
 * by the pool's.
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
    /** A head: items are appended to it. */
    OPEN,
    /** Full, or left: items only die in it. */
    SEALED,
    /** Its live items are being moved out; nothing is appended, and nothing frees it but the end of the cleaning. */
    CLEANING;

    /** A shard takes a segment from the pool. */
    SegmentState open() {
        return require(this == FREE, OPEN);
    }

    /** A head takes no more items. */
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

    /** Nothing lives in it, and nobody cleans it. */
    SegmentState free() {
        return require(this == OPEN || this == SEALED, FREE);
    }

    private SegmentState require(boolean legal, SegmentState next) {
        if (!legal) {
            throw new IllegalStateException("A segment cannot go from " + this + " to " + next);
        }
        return next;
    }
}
