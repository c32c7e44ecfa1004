package io.varve.memory.shard;

import io.varve.memory.collection.CollectionTree;
import io.varve.memory.collection.TreeCopy;
import io.varve.memory.collection.TreeFiller;
import io.varve.memory.collection.TreeHeader;
import io.varve.memory.eviction.AccessBits;
import io.varve.memory.index.Index;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.memory.segment.ItemLayout;

/**
 * How large collections come under keys and go from one to another. Guarded by the shard's lock.
 *
 * <p>A root item is made first, with trees of its own, and takes the key's place only when they are complete: until then what is under
 * the key stays as it is.
 */
public final class ShardCollections {
    private final Shard shard;
    private final ShardItems items;
    private final ShardContext context;
    private final ShardTrees trees;

    ShardCollections(Shard shard, ShardContext context) {
        this.shard = shard;
        this.items = shard.items();
        this.context = context;
        this.trees = items.trees();
    }

    /** Has a tree object look at a found root item. */
    public void open(Item item, CollectionTree tree, long nowMillis) {
        if (!item.isTree() || item.type() != tree.type()) {
            throw new IllegalArgumentException(
                    "A " + item.type() + " of encoding " + item.encoding() + " is no tree of a "
                            + tree.type());
        }
        trees.nodes().now(nowMillis);
        tree.open(trees.nodes(), item.valueAddress());
    }

    /** Makes a tree in the place of what is under a key, complete with what the filler puts into it. */
    public void make(Key key, Item item, CollectionTree tree, long expireAtMillis, TreeFiller filler,
            long nowMillis) {
        long expireAt = expireAt(key, expireAtMillis, nowMillis);
        long made = begin(key, tree.type(), tree.trees(), expireAt, nowMillis);
        long address = items.address(made);
        boolean filled = false;
        try {
            trees.plant(ItemLayout.valueAddress(address), tree.trees(), made);
            tree.open(trees.nodes(), ItemLayout.valueAddress(address));
            tree.generous(true);
            filler.fill();
            tree.generous(false);
            if (tree.size() == 0) {
                throw new IllegalStateException("A collection without elements");
            }
            filled = true;
        } catch (CacheFullException full) {
            // What was taken is given back: as much again, at the least, is what it needs.
            throw CacheFullException.of(full.bytes() + 2 * ShardTrees.nodeBytes(address));
        } finally {
            if (!filled) {
                items.abandon(made);
            }
        }
        link(key, made, expireAt, nowMillis);
        items.look(item, made, address);
    }

    private void link(Key key, long made, long expireAt, long nowMillis) {
        long found = shard.locate(key, nowMillis);
        items.link(key, found, made, expireAt, nowMillis);
        items.tellIfCreated(key, found);
    }

    private long expireAt(Key key, long expireAtMillis, long nowMillis) {
        if (expireAtMillis != Shard.KEEP) {
            return Math.min(expireAtMillis, ItemLayout.MAX_EXPIRE_AT_MILLIS);
        }
        long location = shard.locate(key, nowMillis);
        return location == Index.NONE ? Item.NEVER : ItemLayout.expireAtMillis(items.address(location));
    }

    /** A root item without trees that nothing refers to yet. */
    private long begin(Key key, ItemType type, int count, long expireAt, long nowMillis) {
        if (trees.nodes().isBegun()) {
            throw new IllegalStateException("Writes have begun that are to be one, to another collection of the shard");
        }
        trees.nodes().now(nowMillis);
        int length = TreeHeader.bytes(count);
        long made = items.make(key.address(), key.length(), context.databases.physical(key.database()), type, Item.TREE,
                length, length, expireAt, AccessBits.initial(context.evictionPolicy, nowMillis), nowMillis);
        TreeHeader.clear(ItemLayout.valueAddress(items.address(made)), count);
        return made;
    }

    /**
     * Puts a copy of the trees of a root item, which may be another shard's, under a key.
     *
     * @param from the shard that has the root item
     */
    public void copy(ShardCollections from, Item source, Key key, Item item, long expireAtMillis, long nowMillis) {
        long expireAt = expireAt(key, expireAtMillis, nowMillis);
        int count = TreeHeader.trees(source.valueLength());
        long made = begin(key, source.type(), count, expireAt, nowMillis);
        long address = items.address(made);
        boolean copied = false;
        try {
            trees.plant(ItemLayout.valueAddress(address), count, made);
            TreeCopy.copy(from.trees.nodes(), source.valueAddress(), trees.nodes(), ItemLayout.valueAddress(address),
                    count);
            copied = true;
        } catch (CacheFullException full) {
            throw CacheFullException.of(ShardTrees.nodeBytes(source.address()));
        } finally {
            if (!copied) {
                items.abandon(made);
            }
        }
        link(key, made, expireAt, nowMillis);
        items.look(item, made, address);
    }

    /** Gives the trees of a root item of this shard to another key of it; the root item goes. */
    public void move(Key from, Item source, Key to, Item item, long expireAtMillis, long nowMillis) {
        long expireAt = expireAt(to, expireAtMillis, nowMillis);
        int count = TreeHeader.trees(source.valueLength());
        long made = begin(to, source.type(), count, expireAt, nowMillis);
        try {
            link(to, made, expireAt, nowMillis);
        } catch (CacheFullException full) {
            throw CacheFullException.of(Math.max(full.bytes(), context.pool.segmentBytes()));
        }
        long address = items.address(made);
        Memory.copy(source.valueAddress(), ItemLayout.valueAddress(address), source.valueLength());
        trees.moved(address, made);
        // What goes has no trees any more.
        TreeHeader.clear(source.valueAddress(), count);
        shard.changed(Change.SET, to.database(), to.address(), to.length());
        boolean deleted = shard.delete(from, nowMillis);
        assert deleted : "the key has gone";
        items.look(item, made, address);
    }
}
