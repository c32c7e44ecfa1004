/**
 * What an access that is recorded costs, and a division of memory.
 *
 * <p>Mirrors the package that it measures. Must not live here: anything that another module calls.
 */
@org.jspecify.annotations.NullMarked
package io.varve.memory.locality;
