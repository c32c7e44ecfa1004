/**
 * Sorted sets: members with scores, ranges by rank, score and name, their algebra.
 *
 * <p>Lives here: a sorted set's value, packed or as a tree, and its commands, which take plain sets as operands too (room {@code
 * set}). Must not live here: what a score means as a place on the earth (room {@code geo}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.sortedset;
