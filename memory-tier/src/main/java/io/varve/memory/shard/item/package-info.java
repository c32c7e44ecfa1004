/** The items of a shard: index, segments and expiry kept in step for every write, removal and move. */
@org.jspecify.annotations.NullMarked
package io.varve.memory.shard.item;
