/**
 * Places on the earth as numbers: geohashes, distances, and which squares of the grid a search has to look at.
 *
 * <p>A line lives here if it is geometry. Must not live here: commands, sorted sets, the protocol.
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.geo;
