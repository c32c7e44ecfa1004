/**
 * Benchmarks of a command's path through the server, without a network.
 *
 * <p>Mirrors the package that it measures. Must not live here: anything that another module calls.
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.net;
