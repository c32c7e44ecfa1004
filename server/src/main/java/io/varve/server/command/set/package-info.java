/**
 * Sets: members, their algebra, walks and random picks.
 *
 * <p>Lives here: a set's value, as integers, packed or as a tree, and its commands. Must not live here: scores.
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.set;
