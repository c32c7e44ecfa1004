/** Benchmarks of what is measured and remembered of misses: in the package that they measure. */
@org.jspecify.annotations.NullMarked
package io.varve.memory.penalty;
