/**
 * Places on the earth: GEOADD, GEOSEARCH and their relatives.
 *
 * <p>This package holds the parsing of these commands and their replies. It must not hold geometry
 * ({@code io.varve.server.geo}) or the storage of members (package {@code sortedset}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.geo;
