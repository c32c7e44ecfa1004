/**
 * Learning from accesses: miss-ratio curves, penalties of misses, the partitioning of memory, and periodic demand.
 *
 * <p>These classes bind the pure models of {@code locality} and {@code penalty} to the shards of one cache.
 */
@org.jspecify.annotations.NullMarked
package io.varve.memory.learning;
