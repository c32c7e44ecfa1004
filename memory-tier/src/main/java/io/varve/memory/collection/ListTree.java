package io.varve.memory.collection;

import io.varve.memory.collection.tree.CountedTree;
import io.varve.memory.collection.tree.Element;
import io.varve.memory.collection.tree.ListFormat;
import io.varve.memory.collection.tree.NodeLayout;
import io.varve.memory.item.ItemType;
import io.varve.memory.offheap.Memory;

/** A large list. Confined to one thread, which holds the lock of the item's shard: see {@link CollectionTree}. */
public final class ListTree extends CollectionTree {
    private final Element element = new Element();

    public ListTree() {
        super(ItemType.LIST, 1, new CountedTree(ListFormat.INSTANCE));
    }

    /** The address of the element at the position. */
    public long address() {
        requireElement();
        return ListFormat.address(tree.entry(path));
    }

    /** Bytes of the element at the position. */
    public int length() {
        requireElement();
        return ListFormat.length(tree.entry(path));
    }

    /** Inserts an element before the position, at the end behind the last, and moves to it. */
    public void insert(long bytes, int length) {
        needPath();
        tree.insert(element.of(0, bytes, length), path);
        atElement = true;
    }

    /** Replaces the element at the position. */
    public void replace(long bytes, int length) {
        requireElement();
        tree.replace(element.of(0, bytes, length), path);
    }

    public void addFirst(long bytes, int length) {
        path.forget();
        tree.seek(0, path);
        pathKnown = true;
        insert(bytes, length);
    }

    public void addLast(long bytes, int length) {
        toEnd();
        insert(bytes, length);
    }

    /** Moves the first element to the end; the list must not be empty. */
    public void firstToLast() {
        turn(true);
    }

    /** Moves the last element to the start; the list must not be empty. */
    public void lastToFirst() {
        turn(false);
    }

    private void turn(boolean fromFirst) {
        seek(fromFirst ? 0 : size() - 1);
        int length = length();
        int copy = tree.allocate(NodeLayout.HEADER_BYTES + length);
        try {
            long bytes = tree.space().address(copy) + NodeLayout.HEADER_BYTES;
            Memory.copy(address(), bytes, length);
            if (fromFirst) {
                addLast(bytes, length);
            } else {
                addFirst(bytes, length);
            }
        } finally {
            tree.free(copy);
        }
        seek(fromFirst ? 0 : size() - 1);
        remove();
    }
}
