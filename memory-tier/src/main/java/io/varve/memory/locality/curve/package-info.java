/** Reuse times and miss-ratio curves: sampling of keys, histograms, the age correction, and exact stack distances. */
@org.jspecify.annotations.NullMarked
package io.varve.memory.locality.curve;
