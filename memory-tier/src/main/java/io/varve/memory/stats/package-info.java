/**
 * Counters, single-writer.
 *
 * <p>A line belongs here if it counts.
 */
@org.jspecify.annotations.NullMarked
package io.varve.memory.stats;
