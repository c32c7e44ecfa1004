/**
 * The program behind {@code ./varve jmh}, and, among the tests, the proof that every benchmark still runs.
 *
 * <p>Must not live here: benchmarks; each one is in the package that it measures.
 */
@org.jspecify.annotations.NullMarked
package io.varve.jmh;
