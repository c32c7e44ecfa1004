/** How inputs are made for fuzz targets, which stand in the rooms that they try, and memory in which no one reads too far. */
@org.jspecify.annotations.NullMarked
package io.varve.server.fuzz;
