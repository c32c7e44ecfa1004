/**
 * The experiments: a workload runs against servers, memory is sampled every second, and data, plots and a report are
 * written.
 *
 * <p>Lives here: the command line and the connection between the packages. Must not live here: anything that the server
 * or the memory tier need; they know nothing of experiments.
 */
@org.jspecify.annotations.NullMarked
package io.varve.experiments;
