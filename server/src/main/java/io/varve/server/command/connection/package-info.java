/**
 * HELLO, AUTH, SELECT and CLIENT: the state of this and other connections, and client-side caching.
 *
 * <p>This package holds the commands. It must not hold the state of a client (package {@code command}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.connection;
