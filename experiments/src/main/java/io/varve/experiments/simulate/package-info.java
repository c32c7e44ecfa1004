/**
 * Replacement policies on streams of keys, without a server: {@code ./varve simulate}.
 *
 * <p>Lives here: where keys come from (YCSB's generators, trace files), how popular they are in theory, and what is told of a
 * simulation. Must not live here: the policies and the simulated cache, which are the flash tier's.
 */
@org.jspecify.annotations.NullMarked
package io.varve.experiments.simulate;
