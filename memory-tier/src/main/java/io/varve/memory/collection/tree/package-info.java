/**
 * Counted B+trees whose nodes are items, and the formats of their leaves.
 *
 * <p>The trees know no shard: {@link io.varve.memory.collection.tree.NodeSpace} stores their nodes.
 */
@org.jspecify.annotations.NullMarked
package io.varve.memory.collection.tree;
