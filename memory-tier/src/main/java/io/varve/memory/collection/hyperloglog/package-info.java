/**
 * HyperLogLogs as Redis keeps them in a string: estimates of how many different elements there were.
 *
 * <p>A line belongs here if it knows a bit of that string, or the mathematics of the estimate. Must not live here: items,
 * commands.
 */
@org.jspecify.annotations.NullMarked
package io.varve.memory.collection.hyperloglog;
