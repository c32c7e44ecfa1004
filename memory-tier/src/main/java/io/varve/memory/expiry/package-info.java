/**
 * Time buckets: which items expire in which period, and the three algorithms that visit them.
 *
 * <p>A line belongs here if it knows time. Must not live here: the bytes of an item, the index.
 */
@org.jspecify.annotations.NullMarked
package io.varve.memory.expiry;
