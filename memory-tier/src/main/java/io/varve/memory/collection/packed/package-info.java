/**
 * Small collections as one run of bytes in an item's value.
 *
 * <p>Each type has a stateless layout class, which alone does arithmetic on offsets, and a class of operations.
 */
@org.jspecify.annotations.NullMarked
package io.varve.memory.collection.packed;
