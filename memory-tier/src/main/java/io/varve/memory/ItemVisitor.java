package io.varve.memory;

import io.varve.memory.item.Item;

/**
 * A callback for one item. Runs under the lock of the item's shard; must not call the cache, and must not keep the item
 * or its addresses.
 */
@FunctionalInterface
public interface ItemVisitor {
    void visit(Item item);
}
