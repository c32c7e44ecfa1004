/**
 * Calls to the operating system other than files and sockets, and why those of files fail.
 *
 * <p>Lives here: calls of the C library. Must not live here: anything that touches memory of items.
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.system;
