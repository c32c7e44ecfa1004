/** The partitioning of memory among classes by their penalties and miss-ratio curves. */
@org.jspecify.annotations.NullMarked
package io.varve.memory.locality.partition;
