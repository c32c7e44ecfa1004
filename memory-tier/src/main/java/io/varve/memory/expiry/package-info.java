/**
 * Time buckets: which items expire in which period, and the three algorithms that visit them.
 *
 * <p>Code belongs here if it knows time. The bytes of an item and the index must not live here.
 */
@org.jspecify.annotations.NullMarked
package io.varve.memory.expiry;
