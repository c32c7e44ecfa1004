/**
 * MULTI, EXEC, DISCARD, WATCH.
 *
 * <p>Lives here: the commands. Must not live here: what is queued and watched (room {@code command}), and how it runs as one
 * (room {@code dispatch}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.transaction;
