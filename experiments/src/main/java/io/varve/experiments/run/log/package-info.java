/** The runs that compare servers with and without a write-ahead log. */
@org.jspecify.annotations.NullMarked
package io.varve.experiments.run.log;
