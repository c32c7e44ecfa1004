/**
 * What the server tells of itself: counters, INFO, the slow log, latencies.
 *
 * <p>Lives here: what is measured and how it is shown. Must not live here: commands (they ask this room), sockets.
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.admin;
