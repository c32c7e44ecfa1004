/** Where the nodes of large collections live in a shard: the node table, its journal, and the trees' roots. */
@org.jspecify.annotations.NullMarked
package io.varve.memory.shard.tree;
