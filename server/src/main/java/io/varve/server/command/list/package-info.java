/**
 * Lists: what is done at their ends, in their middle, and by who waits for them.
 *
 * <p>Lives here: a list's value, packed or as a tree, and its commands. Must not live here: how waiting works (room {@code
 * command}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.list;
