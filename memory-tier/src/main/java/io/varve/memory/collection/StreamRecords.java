package io.varve.memory.collection;

import io.varve.memory.collection.tree.CountedTree;
import io.varve.memory.collection.tree.Element;
import io.varve.memory.collection.tree.KeyedFormat;
import io.varve.memory.collection.tree.NodeSpace;
import io.varve.memory.collection.tree.TreePath;

/**
 * Records of a stream's groups: an ordered map of bytes, and a position in it. Confined to its {@link StreamTree},
 * whose atomic groups of writes include it.
 *
 * <p>Keys and values are those of {@link io.varve.memory.collection.stream.GroupRecordLayout}. A write invalidates all
 * addresses. Addresses passed to a write must not lie in the collection itself.
 */
public final class StreamRecords {
    private final CountedTree tree = new CountedTree(KeyedFormat.INSTANCE);
    private final TreePath path = new TreePath();
    private final TreePath spare = new TreePath();
    private final Element element = new Element();
    private boolean atRecord;
    /** The address of the record at the position. */
    private long entry;

    StreamRecords() {}

    void open(NodeSpace space, long record) {
        tree.open(space, record);
        path.forget();
        atRecord = false;
    }

    CountedTree tree() {
        return tree;
    }

    void forget() {
        tree.forget();
        path.forget();
        atRecord = false;
    }

    /** The number of records. */
    public long size() {
        return tree.count();
    }

    /** Moves to a key; if it is missing, to the next greater one, and returns false. */
    public boolean find(long key, int length) {
        return seek(key, length) && KeyedFormat.isKey(entry, key, length);
    }

    /** Moves to the first key that is not less; false, and at no record, if there is none. */
    public boolean seek(long key, int length) {
        path.forget();
        tree.seek(element.of(KeyedFormat.order(key, length), key, length), path);
        return at(tree.settle(path));
    }

    /** Moves to the next record; false, and at no record, if there is none. */
    public boolean next() {
        requireRecord();
        return at(tree.next(path));
    }

    /** Moves to the previous record, from behind the last to the last; false, and at no record, if there is none. */
    public boolean previous() {
        if (!atRecord) {
            path.forget();
            tree.seek(tree.count(), path);
        }
        return at(tree.previous(path));
    }

    private boolean at(boolean found) {
        atRecord = found;
        if (found) {
            entry = tree.entry(path);
        }
        return found;
    }

    /** Whether the position is at a record. */
    public boolean isAtRecord() {
        return atRecord;
    }

    /** The number of records with a lesser key: two such numbers give that of the records between. */
    public long rank(long key, int length) {
        spare.forget();
        tree.seek(element.of(KeyedFormat.order(key, length), key, length), spare);
        return tree.rank(spare);
    }

    public long keyAddress() {
        requireRecord();
        return KeyedFormat.keyAddress(entry);
    }

    public int keyLength() {
        requireRecord();
        return KeyedFormat.keyLength(entry);
    }

    public long valueAddress() {
        requireRecord();
        return KeyedFormat.valueAddress(entry);
    }

    public int valueLength() {
        requireRecord();
        return KeyedFormat.valueLength(entry);
    }

    /**
     * The address of the value at the position, for writing it in its length. Invalidates other addresses.
     *
     * @throws io.varve.memory.item.CacheFullException only in an atomic group of writes
     */
    public long writeValue() {
        requireRecord();
        tree.space().forWriting(path.leaf());
        at(true);
        return KeyedFormat.valueAddress(entry);
    }

    /**
     * Sets the value of a key, and moves to it.
     *
     * @throws io.varve.memory.item.CacheFullException if there is no memory for it; nothing is changed then
     */
    public void put(long key, int length, long value, int valueLength) {
        if (!add(key, length, value, valueLength)) {
            atRecord = false;
            tree.replace(element.of(KeyedFormat.order(key, length), key, length, value, valueLength), path);
            at(true);
        }
    }

    /**
     * Adds a record, and moves to it.
     *
     * @return false if the key exists: the position is then at its record, which keeps its value
     * @throws io.varve.memory.item.CacheFullException if there is no memory for it; nothing is changed then
     */
    public boolean add(long key, int length, long value, int valueLength) {
        path.forget();
        tree.seek(element.of(KeyedFormat.order(key, length), key, length, value, valueLength), path);
        // The position may be behind the last entry of a leaf: then the key may be the first of the next leaf, but
        // would be inserted here.
        boolean isBehindLeaf = tree.leftInLeaf(path) == 0;
        if (at(tree.settle(path))) {
            if (KeyedFormat.isKey(entry, key, length)) {
                return false;
            }
            if (isBehindLeaf) {
                path.forget();
                tree.seek(element, path);
            }
        }
        atRecord = false;
        tree.insert(element, path);
        return at(true);
    }

    /** Removes the record at the position, which is then at none. Refused only in an atomic group of writes. */
    public void remove() {
        requireRecord();
        tree.remove(path, 1);
        atRecord = false;
    }

    /**
     * Removes the records from one rank up to another, exclusive; the position is then at no record. Refused only in an
     * atomic group of writes.
     */
    public void removeRange(long from, long to) {
        tree.removeRange(from, to);
        path.forget();
        atRecord = false;
    }

    private void requireRecord() {
        if (!atRecord) {
            throw new IllegalStateException("The position is at no record");
        }
    }
}
