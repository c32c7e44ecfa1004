/**
 * The segment pool, the item layout, the heads that append, large items, and what is known of each segment: used, live, lifetime.
 *
 * <p>A line belongs here if it knows the bytes of an item or the state of a segment. Must not live here: which item goes (room {@code eviction}), how a key is found (room {@code index}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.memory.segment;
