/**
 * The door of the memory tier: what other modules call to open a cache, and the interface they talk to it through.
 *
 * <p>Lives here: {@link io.varve.memory.Cache}, its configuration and limits. Must not live here: anything that knows
 * the bytes of an item, of an index bucket or of a segment.
 */
@org.jspecify.annotations.NullMarked
package io.varve.memory;
