/**
 * Snapshot files, the change stream and the log, and the state of saving and loading them. Must not know commands or values: package
 * {@code command.persistence} writes and reads those.
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.persistence;
