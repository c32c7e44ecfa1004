/** The reports of a cache: counts, curves, classes and demand. All types are immutable. */
@org.jspecify.annotations.NullMarked
package io.varve.memory.report;
