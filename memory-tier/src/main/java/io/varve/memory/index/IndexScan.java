package io.varve.memory.index;

import org.jspecify.annotations.Nullable;

/** One step of a walk over an index, as {@link Index#scan(long, LocationVisitor)} describes it. Stateless. */
final class IndexScan {
    private IndexScan() {}

    /**
     * Visits the entries of one home bucket of the smaller table, and of the corresponding ones of the larger.
     *
     * @param second the second table during a rehash
     * @return the next cursor; 0 at the end
     */
    static long step(IndexTable current, @Nullable IndexTable second, KeyVerifier verifier, long cursor,
            LocationVisitor visitor, int overflowLimit) {
        long smallerMask = second == null ? current.mask : Math.min(current.mask, second.mask);
        LocationVisitor unseen = (cursor & ~smallerMask) == 0 ? visitor : after(cursor, verifier, visitor);
        if (second == null) {
            current.visitHome(cursor & current.mask, verifier, unseen, overflowLimit);
            return reverseIncrement(cursor, current.mask);
        }
        boolean growing = second.mask > current.mask;
        IndexTable smaller = growing ? current : second;
        IndexTable larger = growing ? second : current;
        smaller.visitHome(cursor & smaller.mask, verifier, unseen, overflowLimit);
        long next = cursor;
        do {
            larger.visitHome(next & larger.mask, verifier, unseen, overflowLimit);
            next = reverseIncrement(next, larger.mask);
        } while ((next & (smaller.mask ^ larger.mask)) != 0);
        return next;
    }

    /** Filters out entries that a walk at this cursor has passed. */
    private static LocationVisitor after(long cursor, KeyVerifier verifier, LocationVisitor visitor) {
        long from = Long.reverse(cursor);
        return location -> {
            long place = Long.reverse(IndexBucketLayout.home(verifier.hashOf(location), -1));
            if (Long.compareUnsigned(place, from) >= 0) {
                visitor.visit(location);
            }
        };
    }

    private static long reverseIncrement(long cursor, long mask) {
        return Long.reverse(Long.reverse(cursor | ~mask) + 1);
    }
}
