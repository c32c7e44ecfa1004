/**
 * Penalties: what a miss costs is measured here, and which class a key belongs to is remembered after its item has gone.
 *
 * <p>A line belongs here if it is about misses and their classes and needs memory for keys. Must not live here: curves and the division of
 * memory, which are probability ({@code locality}); items, shards and commands: what becomes of a class is decided in {@code shard}. A key is 64
 * well mixed bits.
 */
@org.jspecify.annotations.NullMarked
package io.varve.memory.penalty;
