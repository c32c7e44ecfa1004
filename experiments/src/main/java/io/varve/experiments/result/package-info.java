/**
 * Measurements and their evaluation.
 *
 * <p>Lives here: the files of a run, statistics, the summary over all runs. Must not live here: drawing, processes.
 */
@org.jspecify.annotations.NullMarked
package io.varve.experiments.result;
