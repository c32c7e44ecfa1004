package io.varve.memory.shard;

import java.util.Arrays;

import io.varve.memory.index.Index;
import io.varve.memory.index.KeyHash;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemCapture;
import io.varve.memory.item.Key;
import io.varve.memory.shard.context.Databases;
import io.varve.memory.shard.context.ShardContext;
import io.varve.memory.shard.item.ShardItems;
import org.jspecify.annotations.Nullable;

/**
 * The items of a shard that a point-in-time scan has not visited yet. Guarded by the shard's lock.
 *
 * <p>It divides the keys of each database into cells by the low bits of their hashes: as many as the index had home
 * buckets at the start of the scan. A cell is visited as a whole, by the scan or before the first change to one of its
 * keys, and has a bit that says so. Since a cell is defined by hashes, the index may double or halve meanwhile.
 */
public final class ShardCapture {
    private static final int FIRST_LOCATIONS = 16;

    /** The cells of one physical database. */
    private static final class Cells {
        private final int database;
        private final long mask;
        private final long[] visited;
        /** All cells before this one were visited. */
        private long next;

        Cells(int database, long mask) {
            this.database = database;
            this.mask = mask;
            visited = new long[(int) (mask / Long.SIZE) + 1];
        }

        boolean isVisited(long cell) {
            return (visited[(int) (cell / Long.SIZE)] & 1L << cell) != 0;
        }

        void visit(long cell) {
            visited[(int) (cell / Long.SIZE)] |= 1L << cell;
        }
    }

    private final ShardItems items;
    private final Databases databases;
    private final ItemCapture target;
    private final long nowMillis;
    private final @Nullable Cells[] cells = new Cells[Databases.PHYSICAL];
    private final Item item = new Item();
    private final Key key = new Key();
    private long[] locations = new long[FIRST_LOCATIONS];
    /** Of the keys at the locations. */
    private long[] hashes = new long[FIRST_LOCATIONS];
    private int count;
    private int physical;
    /** The sum of what was read ahead. */
    private long touched;

    /** @param nowMillis the moment of the scan */
    ShardCapture(ShardItems items, ShardContext context, ItemCapture target, long nowMillis) {
        this.items = items;
        this.databases = context.databases;
        this.target = target;
        this.nowMillis = nowMillis;
        for (int i = 0; i < databases.count(); i++) {
            Index index = items.indexOrNull(databases.physical(i));
            if (index != null && index.size() > 0) {
                cells[databases.physical(i)] = new Cells(i, index.homeMask());
            }
        }
    }

    /** Visits the cell of a key that is about to be changed, unless it was visited. */
    void aboutToChange(Key changing) {
        leaving(databases.physical(changing.database()), changing.hash());
    }

    /** Visits the cell of an item that is about to change or to leave memory, unless it was visited. */
    void leaving(int of, long hash) {
        Cells left = cells[of];
        if (left == null) {
            return;
        }
        long cell = KeyHash.home(hash, left.mask);
        if (!left.isVisited(cell)) {
            visit(of, left, cell);
        }
    }

    /** Whether the scan has visited the key's cell, or needs none of its database. */
    boolean isVisited(Key changed) {
        Cells left = cells[databases.physical(changed.database())];
        return left == null || left.isVisited(KeyHash.home(changed.hash(), left.mask));
    }

    /** A physical database is detached. @return whether cells of it were not visited */
    public boolean forget(int detached) {
        Cells left = cells[detached];
        cells[detached] = null;
        if (left == null) {
            return false;
        }
        for (long cell = 0; cell <= left.mask; cell++) {
            if (!left.isVisited(cell)) {
                return true;
            }
        }
        return false;
    }

    /** Visits the next cell that was not visited. @return whether there may be more */
    public boolean visitNext() {
        for (; physical < cells.length; physical++) {
            Cells left = cells[physical];
            if (left == null) {
                continue;
            }
            while (left.next <= left.mask && left.isVisited(left.next)) {
                left.next++;
            }
            if (left.next <= left.mask) {
                visit(physical, left, left.next++);
                return true;
            }
            cells[physical] = null;
        }
        return false;
    }

    private void visit(int of, Cells left, long cell) {
        left.visit(cell);
        long nodesNow = items.trees().nodes().now();
        try {
            collect(of, left, cell);
            capture(of, left);
        } catch (RuntimeException | Error failed) {
            // A command whose key is in this cell must not fail because the scan does.
            target.failed(failed);
        } finally {
            // The lookups of a capture may have opened trees, while a command has others open.
            items.trees().nodes().now(nodesNow);
        }
    }

    /** The items are collected first: a capture looks keys up, and the index must not be in the middle of a walk. */
    private void collect(int of, Cells left, long cell) {
        count = 0;
        Index index = items.index(of);
        long cursor = cell;
        do {
            cursor = index.scan(cursor, this::add);
        } while (cursor != 0 && (cursor & left.mask) == cell);
        // So that the cache misses of the items overlap.
        long sum = touched;
        for (int i = 0; i < count; i++) {
            sum += items.verifier().touch(locations[i]);
        }
        touched = sum;
        keep(left, cell);
    }

    /** Of the collected items, keeps those of a cell. */
    private void keep(Cells left, long cell) {
        int kept = 0;
        for (int i = 0; i < count; i++) {
            long hash = items.verifier().hashOf(locations[i]);
            if (KeyHash.home(hash, left.mask) == cell) {
                locations[kept] = locations[i];
                hashes[kept++] = hash;
            }
        }
        count = kept;
    }

    private void capture(int of, Cells left) {
        int logical = databases.logical(of);
        for (int i = 0; i < count; i++) {
            long address = items.address(locations[i]);
            if (!items.timed().isDueForRemoval(address, nowMillis)) {
                items.bind(item, locations[i], address);
                key.bind(item.keyAddress(), item.keyLength(), hashes[i], items.number(), logical);
                target.capture(left.database, key, item);
            }
        }
    }

    private void add(long location) {
        if (count == locations.length) {
            locations = Arrays.copyOf(locations, 2 * count);
            hashes = new long[locations.length];
        }
        locations[count++] = location;
    }
}
