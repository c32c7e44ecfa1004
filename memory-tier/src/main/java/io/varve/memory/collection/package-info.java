/**
 * Hashes (and later lists, sets, sorted sets) as bytes of an item's value.
 *
 * <p>A line belongs here if it knows the shape of a Redis type. Must not live here: locks, segments, the index.
 */
@org.jspecify.annotations.NullMarked
package io.varve.memory.collection;
