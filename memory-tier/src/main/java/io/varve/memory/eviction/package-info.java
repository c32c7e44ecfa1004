/**
 * The policies of maxmemory-policy: they decide which items are evicted under pressure.
 *
 * <p>Code belongs here if it knows memory pressure; it moves no bytes.
 */
@org.jspecify.annotations.NullMarked
package io.varve.memory.eviction;
