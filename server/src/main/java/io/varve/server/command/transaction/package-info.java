/**
 * MULTI, EXEC, DISCARD, WATCH.
 *
 * <p>This package holds the commands. It must not hold the queue and the watched keys (package {@code command}) or the
 * execution of a transaction (package {@code dispatch}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.transaction;
