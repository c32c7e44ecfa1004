package io.varve.server.command.key;

import java.util.function.BooleanSupplier;

import io.varve.flash.record.ItemKey;
import io.varve.memory.CacheSession;
import io.varve.memory.ItemVisitor;
import io.varve.memory.item.Key;

/**
 * A part of the order in which memory is walked over and flash has its keys: of one shard, from a cursor on. Immutable.
 *
 * @param cursor where it begins
 * @param end    the position behind it, {@link ItemKey#position}; 0: where the shard ends
 * @param shards how many there are
 */
record ScanPart(long cursor, long end, int shards) {
    /** As many bits as a position has: what lies in a part of so many is not divided further. */
    static final int MOST_BITS = 40;

    /**
     * What is left, from a cursor on, of one of the equal parts into which a shard is divided.
     *
     * @param bits of the number of those parts
     */
    static ScanPart at(long cursor, int bits, int shards) {
        if (bits == 0) {
            return new ScanPart(cursor, 0, shards);
        }
        long width = 1L << Long.SIZE - bits;
        return new ScanPart(cursor, (position(cursor, shards) & -width) + width, shards);
    }

    /** The smallest part in which a key is, which is bound. */
    static ScanPart around(Key key, int shards) {
        long position = ItemKey.position(ItemKey.place(key.hash()));
        return at(cursor(position, key.shard(), shards), MOST_BITS, shards);
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

    /** The position where it begins. */
    long from() {
        return position(cursor, shards);
    }

    /** The cursor behind it; 0 at the end of all. */
    long next() {
        if (end != 0) {
            return cursor(end, shard(), shards);
        }
        return shard() + 1 < shards ? shard() + 1 : 0;
    }

    /** Whether a key, which is bound, is in it. */
    boolean holds(Key key) {
        long position = ItemKey.position(ItemKey.place(key.hash()));
        // Positions are coarser than cursors may be.
        long first = from() >>> Long.SIZE - MOST_BITS << Long.SIZE - MOST_BITS;
        return key.shard() == shard() && Long.compareUnsigned(position, first) >= 0 && isBeforeEnd(position);
    }

    private boolean isBeforeEnd(long position) {
        return end == 0 || Long.compareUnsigned(position, end) < 0;
    }

    /**
     * Shows what memory has of it, under the locks of the cache.
     *
     * @param key    is bound to each
     * @param enough whether to end before all is shown
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
