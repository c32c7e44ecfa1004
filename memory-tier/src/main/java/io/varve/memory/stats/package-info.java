/**
 * Counters, single-writer.
 *
 * <p>Code belongs here if it counts.
 */
@org.jspecify.annotations.NullMarked
package io.varve.memory.stats;
