package io.varve.memory.collection.tree;

import io.varve.memory.item.Item;

/**
 * The argument of a search in a tree or of an insertion: an order, and bytes elsewhere in memory. Confined to the owner
 * of a tree object; reused.
 */
public final class Element {
    /** The first sort key of the tree. */
    long order;
    /** The order as it is stored, if that differs. */
    public long stored;
    /** Whether the search compares only the order, not the bytes. */
    boolean orderOnly;
    /** Whether the search is for the position behind all equal elements. */
    public boolean behindEqual;
    long bytes;
    int length;
    /** The address of the value; 0 if the caller writes it after the insertion. */
    long value;
    int valueLength;
    /** The time from which on a hash field does not exist. */
    public long time = Item.NEVER;

    public Element of(long order, long address, int length) {
        return of(order, address, length, 0, 0);
    }

    public Element of(long newOrder, long address, int newLength, long valueAddress, int newValueLength) {
        order = newOrder;
        stored = newOrder;
        orderOnly = false;
        behindEqual = false;
        bytes = address;
        length = newLength;
        value = valueAddress;
        valueLength = newValueLength;
        time = Item.NEVER;
        return this;
    }

    /** Sets a member of a sorted set. */
    public Element scored(long storedScore, long address, int newLength) {
        of(ScoreOrder.order(storedScore), address, newLength);
        stored = storedScore;
        return this;
    }

    /** Searches for the first element of an order, or for the position behind the last. */
    public Element order(long newOrder, boolean behind) {
        of(newOrder, 0, 0);
        orderOnly = true;
        behindEqual = behind;
        return this;
    }
}
