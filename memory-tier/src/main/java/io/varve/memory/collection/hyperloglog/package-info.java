/**
 * HyperLogLogs in the string format of Redis: estimates of the number of different elements.
 *
 * <p>Code belongs here if it knows a bit of that string, or the mathematics of the estimate. Items and commands must
 * not live here.
 */
@org.jspecify.annotations.NullMarked
package io.varve.memory.collection.hyperloglog;
