/**
 * Sorted sets: members with scores, ranges by rank, score and member, and set operations.
 *
 * <p>This package holds the sorted set value, packed or as a tree, and its commands, which also accept plain sets as
 * operands (package {@code set}). It must not hold the meaning of a score as a place on the earth (package
 * {@code geo}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.sortedset;
