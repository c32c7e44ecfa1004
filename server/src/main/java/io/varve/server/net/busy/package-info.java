/**
 * Turns of connections while their event loop runs a script that takes long.
 *
 * <p>This package holds what reads sockets in the middle of a task. It must not hold connections (package {@code net}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.net.busy;
