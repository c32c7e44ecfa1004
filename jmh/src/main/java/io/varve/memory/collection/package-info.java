/**
 * Benchmarks of large collections, per element.
 *
 * <p>Mirrors the package that it measures. Must not live here: anything that another module calls.
 */
@org.jspecify.annotations.NullMarked
package io.varve.memory.collection;
