/**
 * The flyweights for keys and items, and the small vocabulary that all packages of this module share.
 *
 * <p>This package holds types without behaviour of their own that cross package boundaries. The bytes of an item
 * (package {@code segment}) and operations on it (package {@code shard}) must not live here.
 */
@org.jspecify.annotations.NullMarked
package io.varve.memory.item;
