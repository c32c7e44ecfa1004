/**
 * Benchmarks of TTLs: setting one, moving one, expiring a time bucket of items.
 *
 * <p>Mirrors the package that it measures. Must not live here: anything that another module calls.
 */
@org.jspecify.annotations.NullMarked
package io.varve.memory.expiry;
