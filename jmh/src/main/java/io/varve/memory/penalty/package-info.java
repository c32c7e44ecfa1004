/** Benchmarks of the measurement of misses and of remembered classes, in the package that they measure. */
@org.jspecify.annotations.NullMarked
package io.varve.memory.penalty;
