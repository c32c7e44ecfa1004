/** The creation of inputs for fuzz targets, which are in the packages that they test, and guarded memory for them. */
@org.jspecify.annotations.NullMarked
package io.varve.server.fuzz;
