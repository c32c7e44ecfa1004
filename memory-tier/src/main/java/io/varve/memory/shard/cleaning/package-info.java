/** The cleaner of a shard: it picks segments, copies live items, and evicts those past the threshold. */
@org.jspecify.annotations.NullMarked
package io.varve.memory.shard.cleaning;
