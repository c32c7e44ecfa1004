/**
 * Places on the earth as numbers: geohashes, distances, and the grid cells that a search visits.
 *
 * <p>Lives here: geometry. Must not live here: commands, sorted sets, the protocol.
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.geo;
