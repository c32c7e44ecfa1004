/**
 * The unit of ownership: one lock, one index for each physical database, its segments, its expiry; the order of steps of get, set, delete.
 *
 * <p>A line belongs here if it decides in which order rooms act. Must not live here: byte layouts.
 */
@org.jspecify.annotations.NullMarked
package io.varve.memory.shard;
