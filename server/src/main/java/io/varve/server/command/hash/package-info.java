/**
 * Hashes: fields and their values.
 *
 * <p>This package holds the hash value, packed or as a tree, and its commands. It must not hold commands on the key as
 * a whole (package {@code key}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.hash;
