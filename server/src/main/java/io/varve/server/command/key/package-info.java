/**
 * Keys whatever their type: deleting, renaming, copying, expiry, and walks over all of them.
 *
 * <p>Lives here: the generic commands that need not know what a value is. Must not live here: those that do (rooms {@code sort}
 * and {@code dump}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.key;
