/** The run that measures the error of miss-ratio curves learnt from samples, in this process. */
@org.jspecify.annotations.NullMarked
package io.varve.experiments.run.curves;
