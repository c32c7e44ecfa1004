/**
 * Benchmarks of the search of one index bucket, in vector and in scalar code.
 *
 * <p>Mirrors the package that it measures. Must not live here: anything that another module calls.
 */
@org.jspecify.annotations.NullMarked
package io.varve.memory.index.vector;
