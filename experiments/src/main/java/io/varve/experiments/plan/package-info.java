/**
 * The runs of an experiment.
 *
 * <p>Lives here: the expansion of the matrix, its filters, the estimate of its duration. Must not live here: anything
 * that starts a process.
 */
@org.jspecify.annotations.NullMarked
package io.varve.experiments.plan;
