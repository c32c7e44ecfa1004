/** Snapshots of the key space: SAVE, BGSAVE and LASTSAVE, the thread that saves, and the loader at start. */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.persistence;
