/** Loads the log or the snapshot at the start. Knows the commands, which it runs again, but no network. */
@org.jspecify.annotations.NullMarked
package io.varve.server.recovery;
