package io.varve.memory.collection;

import io.varve.memory.item.Item;

/**
 * What is looked for in a tree, or put into it: an order and some bytes elsewhere in memory. Confined to the owner of a tree
 * object, and used again and again.
 */
final class Element {
    /** What a tree is ordered by first. */
    long order;
    /** The order as it is stored, where that is not the same. */
    long stored;
    /** Looks for an order alone, whatever the bytes. */
    boolean orderOnly;
    /** Looks for what is behind all that is equal. */
    boolean behindEqual;
    long bytes;
    int length;
    long value;
    int valueLength;
    /** Of a field of a hash: from when on it is not there. */
    long time = Item.NEVER;

    Element of(long order, long address, int length) {
        return of(order, address, length, 0, 0);
    }

    Element of(long newOrder, long address, int newLength, long valueAddress, int newValueLength) {
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

    /** A member of a sorted set. */
    Element scored(long storedScore, long address, int newLength) {
        of(ScoreOrder.order(storedScore), address, newLength);
        stored = storedScore;
        return this;
    }

    /** The first, or what is behind the last, of an order. */
    Element order(long newOrder, boolean behind) {
        of(newOrder, 0, 0);
        orderOnly = true;
        behindEqual = behind;
        return this;
    }
}
