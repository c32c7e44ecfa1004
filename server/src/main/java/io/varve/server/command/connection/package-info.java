/**
 * HELLO, AUTH, SELECT and CLIENT: what a client says of itself and of other connections, and client-side caching.
 *
 * <p>Lives here: the commands. Must not live here: what is known of a client (room {@code command}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.connection;
