/**
 * Hashes: fields and their values.
 *
 * <p>Lives here: a hash's value, packed or as a tree, and its commands. Must not live here: what is done to the key as a whole
 * (room {@code key}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.hash;
