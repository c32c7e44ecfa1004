package io.varve.memory.shard;

import io.varve.memory.index.Index;
import io.varve.memory.index.LocationVisitor;
import io.varve.memory.item.Item;
import io.varve.memory.shard.context.ShardContext;
import io.varve.memory.shard.item.ShardItems;
import org.jspecify.annotations.Nullable;

/**
 * Operations on a shard's keys that name no key: counts, scans and random keys, by logical database. Guarded by the
 * shard's lock.
 */
public final class ShardKeyspace {
    private final ShardItems items;
    private final ShardContext context;

    ShardKeyspace(ShardItems items, ShardContext context) {
        this.items = items;
        this.context = context;
    }

    public long size(int logical) {
        Index index = indexOrNull(logical);
        return index == null ? 0 : index.size();
    }

    public long expiringSize(int logical) {
        return items.expiringOf(context.databases.physical(logical));
    }

    /**
     * Visits the live items of one home bucket of the database's index. @return the next cursor; 0 if no items are left
     */
    public long scan(int logical, long cursor, long nowMillis, LocationVisitor visitor) {
        Index index = indexOrNull(logical);
        if (index == null || index.size() == 0) {
            return 0;
        }
        return index.scan(cursor, location -> {
            if (!items.timed().hasExpired(items.address(location), nowMillis)) {
                visitor.visit(location);
            }
        });
    }

    /** A random live item of the database, or {@link Index#NONE} if it is empty or sampling failed. */
    public long random(int logical, long nowMillis) {
        Index index = indexOrNull(logical);
        if (index == null || index.size() == 0) {
            return Index.NONE;
        }
        long location = items.sampler().of(index);
        return location != Index.NONE && items.timed().hasExpired(items.address(location), nowMillis)
                ? Index.NONE
                : location;
    }

    /** Opens an item that was visited or sampled. */
    public void bind(long location, Item item) {
        items.bind(item, location, items.address(location));
    }

    /**
     * Prepares the index of a database for keys to come, see {@link Index#expect}.
     *
     * @param maxBytes of its table
     */
    public void expect(int logical, long keys, long maxBytes) {
        items.indexForWriting(context.databases.physical(logical)).expect(keys, maxBytes);
    }

    /** No more keys are expected in a database. */
    public void expectNoMore(int logical) {
        Index index = indexOrNull(logical);
        if (index != null) {
            index.expectNoMore();
        }
    }

    private @Nullable Index indexOrNull(int logical) {
        return items.indexOrNull(context.databases.physical(logical));
    }
}
