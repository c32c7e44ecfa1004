/**
 * Lists: operations at their ends and in their middle, and blocking pops.
 *
 * <p>This package holds the list value, packed or as a tree, and its commands. It must not hold the mechanism of
 * blocking (package {@code command}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.list;
