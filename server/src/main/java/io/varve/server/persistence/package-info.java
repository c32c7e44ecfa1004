/**
 * Snapshot files, the change stream and the log, and the state of saving and loading them. Must not know commands or
 * values: packages {@code command.persistence} and {@code recovery} write and read those.
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.persistence;
