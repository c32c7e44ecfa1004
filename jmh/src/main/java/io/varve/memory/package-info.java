/**
 * What the whole cache costs, called in process, beside other caches.
 *
 * <p>Mirrors the package that it measures. Must not live here: anything that another module calls; the other caches (room
 * {@code compared}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.memory;
