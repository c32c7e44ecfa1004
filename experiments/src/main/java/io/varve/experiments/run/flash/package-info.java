/** Runs of the flash tier's policies: simulated, observed on a real store, and behind the memory tier. */
@org.jspecify.annotations.NullMarked
package io.varve.experiments.run.flash;
