/**
 * The experiments: a workload run against servers, memory sampled every second, data, plots and a report written.
 *
 * <p>Lives here: the command line and what ties the packages together. Must not live here: anything that the server
 * or the memory tier need; they know nothing of experiments.
 */
@org.jspecify.annotations.NullMarked
package io.varve.experiments;
