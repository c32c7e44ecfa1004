/**
 * Hashes, lists, sets and sorted sets: small ones as bytes of an item's value, large ones as trees of nodes.
 *
 * <p>The classes {@code Packed…} implement small collections. Large ones use a
 * {@link io.varve.memory.collection.CollectionTree} for each type, over counted trees whose leaves have a format of
 * their own. The shard decides where nodes live, through {@link io.varve.memory.collection.tree.NodeSpace}.
 *
 * <p>Code belongs here if it knows the shape of a Redis type. Locks, segments and the index must not live here.
 */
@org.jspecify.annotations.NullMarked
package io.varve.memory.collection;
