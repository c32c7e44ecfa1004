package io.varve.memory;

import io.varve.memory.item.Item;

/** Looks at an item under its shard's lock. Must not call the cache, and must not keep the item or its addresses. */
@FunctionalInterface
public interface ItemVisitor {
    void visit(Item item);
}
