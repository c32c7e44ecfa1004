/**
 * Places on the earth: GEOADD, GEOSEARCH and their relatives.
 *
 * <p>Lives here: how the commands are read and answered. Must not live here: geometry ({@code io.varve.server.geo}), and how
 * members are kept (room {@code sortedset}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.geo;
