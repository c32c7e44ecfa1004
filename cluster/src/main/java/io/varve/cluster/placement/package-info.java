/** The placement of hash slots on primaries. Pure functions: no network, no clock, no randomness without a seed. */
@NullMarked
package io.varve.cluster.placement;

import org.jspecify.annotations.NullMarked;
