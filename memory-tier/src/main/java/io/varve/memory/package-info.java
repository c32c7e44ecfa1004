/**
 * The public interface of the memory tier: other modules open a cache and use it through these types.
 *
 * <p>This package holds {@link io.varve.memory.Cache}, its configuration and its limits. It must not know the byte
 * layout of an item, an index bucket or a segment.
 */
@org.jspecify.annotations.NullMarked
package io.varve.memory;
