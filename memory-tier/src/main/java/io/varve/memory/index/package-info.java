/**
 * The two-level hash index: bucket layout, probe, insert, displacement, extension, incremental rehash, scan.
 *
 * <p>A line belongs here if it knows hash, slot and tag; it never knows where a key's bytes are (that is what {@link io.varve.memory.index.KeyVerifier} is for). Must not live here: vector code (room {@code index.vector}), anything of a segment.
 */
@org.jspecify.annotations.NullMarked
package io.varve.memory.index;
