/**
 * The shard, the unit of ownership: one lock, an index for each physical database, segments, expiry, and the order of
 * steps in get, set and delete.
 *
 * <p>Code belongs here if it decides in which order the other packages act. Byte layouts must not live here.
 */
@org.jspecify.annotations.NullMarked
package io.varve.memory.shard;
