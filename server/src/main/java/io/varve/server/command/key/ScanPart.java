package io.varve.server.command.key;

import java.util.function.BooleanSupplier;

import io.varve.flash.record.ItemKey;
import io.varve.memory.CacheSession;
import io.varve.memory.ItemVisitor;
import io.varve.memory.item.Key;

/**
 * A part of one shard in the scan order, which memory and flash share. Immutable.
 *
 * @param cursor the start
 * @param end the position after the end, {@link ItemKey#position}; 0: the end of the shard
 * @param shards number of shards
 */
record ScanPart(long cursor, long end, int shards) {
    /** Bits of a position: a part at this depth cannot be divided further. */
    static final int MAX_BITS = 40;

    /**
     * The rest, from a cursor on, of one of the equal parts of a shard.
     *
     * @param bits binary logarithm of the number of those parts
     */
    static ScanPart at(long cursor, int bits, int shards) {
        if (bits == 0) {
            return new ScanPart(cursor, 0, shards);
        }
        long width = 1L << Long.SIZE - bits;
        return new ScanPart(cursor, (position(cursor, shards) & -width) + width, shards);
    }

    /** The smallest part that contains a bound key. */
    static ScanPart around(Key key, int shards) {
        long position = ItemKey.position(ItemKey.place(key.hash()));
        return at(cursor(position, key.shard(), shards), MAX_BITS, shards);
    }

    private static long position(long cursor, int shards) {
        return Long.reverse(cursor >>> Integer.numberOfTrailingZeros(shards));
    }

    private static long cursor(long position, int shard, int shards) {
        return Long.reverse(position) << Integer.numberOfTrailingZeros(shards) | shard;
    }

    int shard() {
        return (int) (cursor & shards - 1);
    }

    /** The position of the start. */
    long from() {
        return position(cursor, shards);
    }

    /** The cursor after this part; 0 at the end of the scan. */
    long next() {
        if (end != 0) {
            return cursor(end, shard(), shards);
        }
        return shard() + 1 < shards ? shard() + 1 : 0;
    }

    /** Whether a bound key belongs to this part. */
    boolean holds(Key key) {
        long position = ItemKey.position(ItemKey.place(key.hash()));
        // Positions are coarser than cursors may be.
        long first = from() >>> Long.SIZE - MAX_BITS << Long.SIZE - MAX_BITS;
        return key.shard() == shard() && Long.compareUnsigned(position, first) >= 0 && isBeforeEnd(position);
    }

    private boolean isBeforeEnd(long position) {
        return end == 0 || Long.compareUnsigned(position, end) < 0;
    }

    /**
     * Visits the items of this part in memory, under the locks of the cache.
     *
     * @param key is bound to each item's key
     * @param enough whether to stop early
     */
    void visitMemory(CacheSession session, int database, Key key, BooleanSupplier enough, ItemVisitor visitor) {
        long at = cursor;
        do {
            at = session.scan(database, at, 1, item -> {
                session.bind(key, database, item.keyAddress(), item.keyLength());
                if (holds(key)) {
                    visitor.visit(item);
                }
            });
        } while (at != 0 && (at & shards - 1) == shard() && isBeforeEnd(position(at, shards))
                && !enough.getAsBoolean());
    }
}
