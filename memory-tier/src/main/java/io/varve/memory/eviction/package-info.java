/**
 * Who goes under pressure: the policies of maxmemory-policy.
 *
 * <p>A line belongs here if it knows pressure; moves no bytes.
 */
@org.jspecify.annotations.NullMarked
package io.varve.memory.eviction;
