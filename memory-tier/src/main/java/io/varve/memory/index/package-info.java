/**
 * The two-level hash index: bucket layout, probe, insert, displacement, extension, incremental rehash, scan.
 *
 * <p>Code belongs here if it knows hash, slot and tag. It never knows where a key's bytes are;
 * {@link io.varve.memory.index.KeyVerifier} answers that. Vector code (package {@code index.vector}) and anything about
 * segments must not live here.
 */
@org.jspecify.annotations.NullMarked
package io.varve.memory.index;
