/**
 * Locality: reuse times of keys, average eviction times, miss-ratio curves, the partitioning of memory among classes,
 * and the detection of periodic demand.
 *
 * <p>Code belongs here if it is about probability; it is pure, without I/O. It must not know an item, a shard or a
 * command. A key is 64 well-mixed bits, and a time is a count of accesses.
 */
@org.jspecify.annotations.NullMarked
package io.varve.memory.locality;
