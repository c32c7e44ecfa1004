/**
 * What a TTL costs: setting one, moving one, letting a time bucket of items go.
 *
 * <p>Mirrors the package that it measures. Must not live here: anything that another module calls.
 */
@org.jspecify.annotations.NullMarked
package io.varve.memory.expiry;
