/**
 * The execution of one run: load on a server, memory samples, result files.
 *
 * <p>Lives here: the monitor, YCSB's process, our own loader, progress. Must not live here: comparison between runs,
 * drawing.
 */
@org.jspecify.annotations.NullMarked
package io.varve.experiments.run;
