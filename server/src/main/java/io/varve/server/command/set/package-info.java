/**
 * Sets: members, set operations, iteration and random picks.
 *
 * <p>This package holds the set value, as integers, packed or as a tree, and its commands. It must not hold scores.
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.set;
