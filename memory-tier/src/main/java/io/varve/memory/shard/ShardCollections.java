package io.varve.memory.shard;

import io.varve.memory.collection.CollectionTree;
import io.varve.memory.collection.TimedHashLayout;
import io.varve.memory.collection.tree.TreeCopy;
import io.varve.memory.collection.tree.TreeFiller;
import io.varve.memory.collection.tree.TreeHeader;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.memory.segment.ItemLayout;
import io.varve.memory.shard.context.ShardContext;
import io.varve.memory.shard.item.ShardItems;
import io.varve.memory.shard.item.TimedHashes;
import io.varve.memory.shard.learning.ShardPenalties;
import io.varve.memory.shard.tree.ShardTrees;

/**
 * Creates large collections under keys, and copies or moves them between keys. Guarded by the shard's lock.
 *
 * <p>A new root item first gets complete trees of its own and only then replaces the key's item. Until then the key
 * keeps its old value.
 */
public final class ShardCollections {
    /**
     * Capacity beside the word of a hash: the times of a field or two, so that a long hash does not move again for
     * them.
     */
    private static final int TIMES_SLACK_BYTES = 16;

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

    /** Opens a tree object on a found root item. */
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
     * Creates a tree with the filler's elements in place of a key's value.
     *
     * @param hint the penalty class, or {@link ShardPenalties#AUTOMATIC}
     */
    public void make(Key key, Item item, CollectionTree tree, long expireAtMillis, TreeFiller filler, int hint,
            long nowMillis) {
        long expireAt = shard.expireAt(key, expireAtMillis, nowMillis);
        boolean keepsTimes = TimedHashLayout.isTimedHeader(tree.headerBytes());
        // With expiry fields, because a field may have a time; the actual time is known only at the end.
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
            tree.expectManyWrites(true);
            filler.fill();
            tree.expectManyWrites(false);
            if (tree.size() == 0 && !tree.mayBeEmpty()) {
                throw new IllegalStateException("A collection must have elements");
            }
            filled = true;
        } catch (CacheFullException full) {
            // The memory taken is freed now: the collection needs at least as much again.
            throw full.inAll(full.bytes() + 2 * ShardTrees.nodeBytes(address));
        } finally {
            if (!filled) {
                items.free(made);
            }
        }
        long examineAt = keepsTimes ? items.timed().examineAtMillis(address, expireAt) : expireAt;
        if (keepsTimes) {
            items.setExamineAt(made, address, examineAt, nowMillis);
        }
        link(key, made, expireAt, examineAt, nowMillis);
        items.penalties().written();
        items.bind(item, made, address);
    }

    private void link(Key key, long made, long expireAt, long examineAt, long nowMillis) {
        long found = shard.locate(key, nowMillis);
        items.link(key, found, made, expireAt != Item.NEVER, examineAt, nowMillis);
        items.changes().notifyIfCreated(key, found);
    }

    /** Writes the word of a root item whose fields may have times. */
    private static void writeWord(long address, long expireAt) {
        if (TimedHashes.isTimed(address)) {
            TimedHashLayout.write(TimedHashLayout.word(ItemLayout.valueAddress(address), true), expireAt, 0);
        }
    }

    /** Creates a root item without trees, to which nothing refers yet. */
    private long begin(Key key, ItemType type, int length, long expireAt, int stamp, long nowMillis) {
        if (trees.nodes().isBegun()) {
            throw new IllegalStateException("A group of writes to another collection of the shard has begun");
        }
        trees.nodes().now(nowMillis);
        long made = items.make(key.address(), key.length(), context.databases.physical(key.database()), type, Item.TREE,
                length, length, expireAt, stamp, nowMillis);
        Memory.fill(ItemLayout.valueAddress(items.address(made)), length, (byte) 0);
        return made;
    }

    /**
     * Copies the trees of a root item, possibly of another shard, to a key.
     *
     * @param from the shard that has the root item
     * @param hint the penalty class, or {@link ShardPenalties#AUTOMATIC}
     */
    public void copy(ShardCollections from, Item source, Key key, Item item, long expireAtMillis, int hint,
            long nowMillis) {
        long expireAt = shard.expireAt(key, expireAtMillis, nowMillis);
        long examineAt = from.examineAt(source, expireAt);
        int count = TreeHeader.trees(source.valueLength());
        long made = begin(key, source.type(), source.valueLength(), examineAt,
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
            int records = TreeHeader.bytes(count);
            if (source.type() == ItemType.STREAM) {
                Memory.copy(source.valueAddress() + records, ItemLayout.valueAddress(address) + records,
                        source.valueLength() - records);
            }
            copied = true;
        } catch (CacheFullException full) {
            throw CacheFullException.of(ShardTrees.nodeBytes(source.address()));
        } finally {
            if (!copied) {
                items.free(made);
            }
        }
        link(key, made, expireAt, examineAt, nowMillis);
        items.penalties().written();
        items.bind(item, made, address);
    }

    /** A copy gets the class of its source, unless that is unknown or a hint names another. */
    private static int inherited(int hint, Item source) {
        int known = ItemLayout.penaltyClass(source.address());
        return hint == ShardPenalties.AUTOMATIC && known != 0 ? known : hint;
    }

    /** The time at which the cycle must examine a copy of a root item with another expiry time. */
    private long examineAt(Item source, long expireAt) {
        return TimedHashes.isTimed(source.address())
                ? items.timed().examineAtMillis(source.address(), expireAt)
                : expireAt;
    }

    /**
     * Moves the trees of a root item of this shard to another key of it; the root item is removed.
     *
     * @param hint the penalty class, or {@link ShardPenalties#AUTOMATIC}
     */
    public void move(Key from, Item source, Key to, Item item, long expireAtMillis, int hint, long nowMillis) {
        long expireAt = shard.expireAt(to, expireAtMillis, nowMillis);
        long examineAt = examineAt(source, expireAt);
        int count = TreeHeader.trees(source.valueLength());
        // Read first: tracking can start without waiting for this shard, and without tracking no class is computed.
        boolean tracked = context.tracking() != null;
        int written = shard.classOfWrite(to, inherited(hint, source), nowMillis);
        int penaltyClass = tracked ? written : ItemLayout.penaltyClass(source.address());
        long made = begin(to, source.type(), source.valueLength(), examineAt,
                ItemLayout.stamp(items.access().replacing(source.address(), nowMillis), penaltyClass), nowMillis);
        try {
            link(to, made, expireAt, examineAt, nowMillis);
        } catch (CacheFullException full) {
            throw full.inAll(Math.max(full.bytes(), context.pool.segmentBytes()));
        }
        items.penalties().written();
        long address = items.address(made);
        Memory.copy(source.valueAddress(), ItemLayout.valueAddress(address), source.valueLength());
        writeWord(address, expireAt);
        trees.moved(address, made);
        // Before the old root item loses its trees: its bytes include those of its nodes.
        items.pins().unpin(source);
        items.pins().grown(address, ShardTrees.nodeBytes(address));
        TreeHeader.clear(source.valueAddress(), count);
        shard.changed(Change.SET, to.database(), to.address(), to.length());
        shard.deleteAnyway(from);
        items.bind(item, made, address);
    }

    // --- field times

    /**
     * Prepares a found hash of any form for fields with times, and for the expiry cycle at the earliest of them. May
     * move the item.
     *
     * @throws CacheFullException if there is no memory for it; nothing visible has changed then
     */
    public void keepFieldTimes(Key key, Item item, long earliestMillis, long nowMillis) {
        boolean isNew = !TimedHashes.isTimed(item.address());
        boolean counted = TimedHashes.countsAsTimed(item.address());
        if (isNew && item.isTree()) {
            addTimes(key, item, nowMillis);
        } else if (isNew) {
            addWord(key, item, nowMillis);
        }
        long examineAt = ItemLayout.expireAtMillis(item.address());
        try {
            if (examineAt == Item.NEVER || earliestMillis < examineAt) {
                shard.keyExpiry().setExamineAt(key, item, earliestMillis, nowMillis);
            }
        } finally {
            items.timed().count(item.address(), counted, TimedHashes.countsAsTimed(item.address()));
        }
    }

    /**
     * Undoes {@link #keepFieldTimes} for a hash that got no field with a time: it gets its former form back. It stays
     * unchanged if the system refuses memory for an expiry entry; only OBJECT ENCODING shows that.
     */
    public void forgetFieldTimes(Key key, Item item, long nowMillis) {
        long address = item.address();
        if (!TimedHashes.isTimed(address) || items.timed().hasTimes(address)) {
            return;
        }
        boolean counted = TimedHashes.countsAsTimed(address);
        try {
            shard.keyExpiry().setExamineAt(key, item, item.expireAtMillis(), nowMillis);
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
        items.bind(item, item.location(), address);
    }

    /** Adds the word in front of a packed hash. */
    private void addWord(Key key, Item item, long nowMillis) {
        long expireAt = item.expireAtMillis();
        int encoding = item.encoding();
        int length = item.valueLength();
        int needed = length + TimedHashLayout.WORD_BYTES;
        shard.resize(key, item, Item.TIMED, needed, needed + TIMES_SLACK_BYTES, nowMillis);
        Memory.copy(item.valueAddress(), item.valueAddress() + TimedHashLayout.WORD_BYTES, length);
        TimedHashLayout.write(item.valueAddress(), expireAt, encoding);
        items.bind(item, item.location(), item.address());
    }

    /** The time at which a found item of any kind changes without a command: its key expires, or a field is due. */
    public long changesAtMillis(Item item, long nowMillis) {
        return items.timed().changesAtMillis(item.address(), nowMillis);
    }

    /**
     * Adds an empty second tree, for the times of fields, to a found hash.
     *
     * @throws CacheFullException if there is no memory for it; nothing is changed then
     */
    private void addTimes(Key key, Item item, long nowMillis) {
        long expireAt = item.expireAtMillis();
        long examineAt = ItemLayout.expireAtMillis(item.address());
        int tree = trees.nodes().newId();
        long made;
        try {
            made = begin(key, ItemType.HASH, TimedHashLayout.TREE_HEADER_BYTES, examineAt,
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
        items.bind(item, made, address);
    }
}
