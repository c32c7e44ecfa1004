/**
 * Hashes, lists, sets and sorted sets: small ones as bytes of an item's value, large ones as trees of nodes.
 *
 * <p>Small: the classes {@code Packed…}. Large: a {@link io.varve.memory.collection.CollectionTree} for each type, over
 * counted trees whose leaves have a format for it. Where nodes live is for the shard to say:
 * {@link io.varve.memory.collection.NodeSpace}.
 *
 * <p>A line belongs here if it knows the shape of a Redis type. Must not live here: locks, segments, the index.
 */
@org.jspecify.annotations.NullMarked
package io.varve.memory.collection;
