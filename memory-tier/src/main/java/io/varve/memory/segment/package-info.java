/**
 * The segment pool, the item layout, the open segments, large items, and the accounts of each segment: used bytes, live
 * bytes, lifetimes.
 *
 * <p>Code belongs here if it knows the bytes of an item or the state of a segment. Choosing items to evict (package
 * {@code eviction}) and finding keys (package {@code index}) must not live here.
 */
@org.jspecify.annotations.NullMarked
package io.varve.memory.segment;
