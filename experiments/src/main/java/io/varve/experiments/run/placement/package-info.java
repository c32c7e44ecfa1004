/** The run that compares placements of a cluster's keys on its members, in this process. */
@org.jspecify.annotations.NullMarked
package io.varve.experiments.run.placement;
