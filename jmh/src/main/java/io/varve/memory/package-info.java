/**
 * Benchmarks of the whole cache, called in process, compared with other caches.
 *
 * <p>Mirrors the package that it measures. Must not live here: anything that another module calls; the other caches
 * (package {@code compared}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.memory;
