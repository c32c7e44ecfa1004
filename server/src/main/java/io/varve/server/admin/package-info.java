/**
 * Introspection: counters, INFO, the slow log, latencies.
 *
 * <p>Lives here: the figures that are measured and their presentation. Must not live here: commands (they call this
 * package), sockets.
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.admin;
