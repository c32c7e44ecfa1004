package io.varve.memory.shard;

import io.varve.memory.collection.CollectionTree;
import io.varve.memory.collection.TimedHashLayout;
import io.varve.memory.collection.TreeCopy;
import io.varve.memory.collection.TreeFiller;
import io.varve.memory.collection.TreeHeader;
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
    /** Beside the word of a hash: the times of a field or two, so that a long one is not moved once more for its own. */
    private static final int ROOM_FOR_TIMES = 16;

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
        tree.open(trees.nodes(), item.valueAddress(), item.valueLength(), nowMillis);
    }

    /**
     * Makes a tree in the place of what is under a key, complete with what the filler puts into it.
     *
     * @param hint the class of penalty, or {@link ShardPenalties#AUTOMATIC}
     */
    public void make(Key key, Item item, CollectionTree tree, long expireAtMillis, TreeFiller filler, int hint,
            long nowMillis) {
        long expireAt = shard.expireAt(key, expireAtMillis, nowMillis);
        boolean keepsTimes = TimedHashLayout.isTimedHeader(tree.headerBytes());
        // With room for a time where there may be one: which it is is known at the end.
        long made = begin(key, tree.type(), tree.headerBytes(),
                keepsTimes && expireAt == Item.NEVER ? ItemLayout.MAX_EXPIRE_AT_MILLIS : expireAt,
                ItemLayout.stamp(shard.accessOfNew(shard.locate(key, nowMillis), nowMillis),
                        shard.classOfWrite(key, hint, nowMillis)),
                nowMillis);
        long address = items.address(made);
        boolean filled = false;
        try {
            trees.plant(ItemLayout.valueAddress(address), tree.trees(), made);
            writeWord(address, expireAt);
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
            throw full.inAll(full.bytes() + 2 * ShardTrees.nodeBytes(address));
        } finally {
            if (!filled) {
                items.abandon(made);
            }
        }
        long lookAt = keepsTimes ? items.timed().lookAtMillis(address, expireAt) : expireAt;
        if (keepsTimes) {
            items.lookAt(made, address, lookAt, nowMillis);
        }
        link(key, made, expireAt, lookAt, nowMillis);
        items.penalties().written();
        items.look(item, made, address);
    }

    private void link(Key key, long made, long expireAt, long lookAt, long nowMillis) {
        long found = shard.locate(key, nowMillis);
        items.link(key, found, made, expireAt != Item.NEVER, lookAt, nowMillis);
        items.tellIfCreated(key, found);
    }

    /** What a root item has beside its header, if its fields may have times. */
    private static void writeWord(long address, long expireAt) {
        if (TimedHashes.isTimed(address)) {
            TimedHashLayout.write(TimedHashLayout.word(ItemLayout.valueAddress(address), true), expireAt, 0);
        }
    }

    /** A root item without trees that nothing refers to yet. */
    private long begin(Key key, ItemType type, int length, long expireAt, int stamp, long nowMillis) {
        if (trees.nodes().isBegun()) {
            throw new IllegalStateException("Writes have begun that are to be one, to another collection of the shard");
        }
        trees.nodes().now(nowMillis);
        long made = items.make(key.address(), key.length(), context.databases.physical(key.database()), type, Item.TREE,
                length, length, expireAt, stamp, nowMillis);
        Memory.fill(ItemLayout.valueAddress(items.address(made)), length, (byte) 0);
        return made;
    }

    /**
     * Puts a copy of the trees of a root item, which may be another shard's, under a key.
     *
     * @param from the shard that has the root item
     * @param hint the class of penalty, or {@link ShardPenalties#AUTOMATIC}
     */
    public void copy(ShardCollections from, Item source, Key key, Item item, long expireAtMillis, int hint,
            long nowMillis) {
        long expireAt = shard.expireAt(key, expireAtMillis, nowMillis);
        long lookAt = from.lookAt(source, expireAt);
        int count = TreeHeader.trees(source.valueLength());
        long made = begin(key, source.type(), source.valueLength(), lookAt,
                ItemLayout.stamp(items.access().initial(nowMillis),
                        shard.classOfWrite(key, inherited(hint, source), nowMillis)),
                nowMillis);
        long address = items.address(made);
        boolean copied = false;
        try {
            trees.plant(ItemLayout.valueAddress(address), count, made);
            writeWord(address, expireAt);
            TreeCopy.copy(from.trees.nodes(), source.valueAddress(), trees.nodes(), ItemLayout.valueAddress(address),
                    count, source.type() == ItemType.SORTED_SET);
            copied = true;
        } catch (CacheFullException full) {
            throw CacheFullException.of(ShardTrees.nodeBytes(source.address()));
        } finally {
            if (!copied) {
                items.abandon(made);
            }
        }
        link(key, made, expireAt, lookAt, nowMillis);
        items.penalties().written();
        items.look(item, made, address);
    }

    /** A copy belongs into the class of its source, unless nobody knows that, or somebody says another. */
    private static int inherited(int hint, Item source) {
        int known = ItemLayout.penaltyClass(source.address());
        return hint == ShardPenalties.AUTOMATIC && known != 0 ? known : hint;
    }

    /** When a root item is to be looked at that has what this one has, and another expiry time. */
    private long lookAt(Item source, long expireAt) {
        return TimedHashes.isTimed(source.address())
                ? items.timed().lookAtMillis(source.address(), expireAt)
                : expireAt;
    }

    /**
     * Gives the trees of a root item of this shard to another key of it; the root item goes.
     *
     * @param hint the class of penalty, or {@link ShardPenalties#AUTOMATIC}
     */
    public void move(Key from, Item source, Key to, Item item, long expireAtMillis, int hint, long nowMillis) {
        long expireAt = shard.expireAt(to, expireAtMillis, nowMillis);
        long lookAt = lookAt(source, expireAt);
        int count = TreeHeader.trees(source.valueLength());
        // Asked first: who begins tracking does not wait for this shard, and before that nobody looks for a class.
        boolean tracked = context.tracking != null;
        int written = shard.classOfWrite(to, inherited(hint, source), nowMillis);
        int penaltyClass = tracked ? written : ItemLayout.penaltyClass(source.address());
        long made = begin(to, source.type(), source.valueLength(), lookAt,
                ItemLayout.stamp(items.access().replacing(source.address(), nowMillis), penaltyClass), nowMillis);
        try {
            link(to, made, expireAt, lookAt, nowMillis);
        } catch (CacheFullException full) {
            throw full.inAll(Math.max(full.bytes(), context.pool.segmentBytes()));
        }
        items.penalties().written();
        long address = items.address(made);
        Memory.copy(source.valueAddress(), ItemLayout.valueAddress(address), source.valueLength());
        writeWord(address, expireAt);
        trees.moved(address, made);
        // What goes has no trees any more.
        TreeHeader.clear(source.valueAddress(), count);
        shard.changed(Change.SET, to.database(), to.address(), to.length());
        shard.deleteAnyway(from);
        items.look(item, made, address);
    }

    // --- times of fields

    /**
     * A found hash, of whatever form, gets fields with times, the earliest of them this one: from now on there is room for times, and it
     * is looked at in time. May move the item.
     *
     * @throws CacheFullException if there is no memory for it; nothing that can be seen has changed then
     */
    public void keepFieldTimes(Key key, Item item, long earliestMillis, long nowMillis) {
        boolean isNew = !TimedHashes.isTimed(item.address());
        boolean counted = TimedHashes.countsAsTimed(item.address());
        if (isNew && item.isTree()) {
            addTimes(key, item, nowMillis);
        } else if (isNew) {
            addWord(key, item, nowMillis);
        }
        long lookAt = ItemLayout.expireAtMillis(item.address());
        try {
            if (lookAt == Item.NEVER || earliestMillis < lookAt) {
                shard.lookAt(key, item, earliestMillis, nowMillis);
            }
        } finally {
            items.timed().count(item.address(), counted, TimedHashes.countsAsTimed(item.address()));
        }
    }

    /**
     * The undo of {@link #keepFieldTimes} for a hash that got no field with a time after all: it has the form that it had. It keeps the other
     * where the system refuses memory for an expiry entry; nobody sees that but by OBJECT ENCODING.
     */
    public void forgetFieldTimes(Key key, Item item, long nowMillis) {
        long address = item.address();
        if (!TimedHashes.isTimed(address) || items.timed().hasTimes(address)) {
            return;
        }
        boolean counted = TimedHashes.countsAsTimed(address);
        try {
            shard.lookAt(key, item, item.expireAtMillis(), nowMillis);
        } catch (CacheFullException refused) {
            return;
        }
        if (item.isTree()) {
            trees.table().free(TreeHeader.tree(TreeHeader.record(item.valueAddress(), 1)));
            items.resizeInPlace(address, Item.TREE, TreeHeader.bytes(1));
        } else {
            int encoding = TimedHashLayout.encoding(item.valueAddress());
            int length = item.valueLength() - TimedHashLayout.WORD_BYTES;
            Memory.copy(item.valueAddress() + TimedHashLayout.WORD_BYTES, item.valueAddress(), length);
            items.resizeInPlace(address, encoding, length);
        }
        items.timed().count(address, counted, false);
        items.look(item, item.location(), address);
    }

    /** Gives a packed hash the word in front of it. */
    private void addWord(Key key, Item item, long nowMillis) {
        long expireAt = item.expireAtMillis();
        int encoding = item.encoding();
        int length = item.valueLength();
        int needed = length + TimedHashLayout.WORD_BYTES;
        shard.resize(key, item, Item.TIMED, needed, needed + ROOM_FOR_TIMES, nowMillis);
        Memory.copy(item.valueAddress(), item.valueAddress() + TimedHashLayout.WORD_BYTES, length);
        TimedHashLayout.write(item.valueAddress(), expireAt, encoding);
        items.look(item, item.location(), item.address());
    }

    /** When a found item of any kind is not any more what it is: its key expires, or a field of it is due. */
    public long changesAtMillis(Item item, long nowMillis) {
        return items.timed().changesAtMillis(item.address(), nowMillis);
    }

    /**
     * Gives a found hash a second tree, for the times of its fields, which is empty.
     *
     * @throws CacheFullException if there is no memory for it; nothing is changed then
     */
    private void addTimes(Key key, Item item, long nowMillis) {
        long expireAt = item.expireAtMillis();
        long lookAt = ItemLayout.expireAtMillis(item.address());
        int tree = trees.nodes().newId();
        long made;
        try {
            made = begin(key, ItemType.HASH, TimedHashLayout.TREE_HEADER_BYTES, lookAt,
                    ItemLayout.stamp(item.address()), nowMillis);
        } catch (CacheFullException full) {
            trees.table().free(tree);
            throw full;
        }
        long address = items.address(made);
        long header = ItemLayout.valueAddress(address);
        ItemLayout.access(address, ItemLayout.access(item.address()));
        ItemLayout.followed(address, ItemLayout.isFollowed(item.address()));
        Memory.copy(item.valueAddress(), header, item.valueLength());
        TreeHeader.tree(TreeHeader.record(header, 1), tree);
        trees.table().tree(tree, made);
        writeWord(address, expireAt);
        items.replace(key.hash(), item.location(), made);
        items.look(item, made, address);
    }
}
