/** The per-shard side of learning: penalties of classes, demand, and the key of an access. */
@org.jspecify.annotations.NullMarked
package io.varve.memory.shard.learning;
