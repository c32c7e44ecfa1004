/**
 * Measures what misses cost, and remembers the penalty classes of evicted keys.
 *
 * <p>Code belongs here if it is about misses and their classes and needs memory for keys. Curves and memory
 * partitioning, which are probability, live in {@code locality}. Items, shards and commands must not live here either:
 * {@code shard} decides what a class means. A key is 64 well-mixed bits.
 */
@org.jspecify.annotations.NullMarked
package io.varve.memory.penalty;
