/**
 * Simulated caches on key streams, without a server: {@code ./varve simulate}, and the possible savings by a division
 * of memory.
 *
 * <p>Lives here: the sources of keys (YCSB's generators, trace files), their theoretical popularity, the results of a
 * simulation, and exact LRU that is divided between two kinds of keys. Must not live here: the replacement policies and
 * the simulated cache under them, which belong to the flash tier.
 */
@org.jspecify.annotations.NullMarked
package io.varve.experiments.simulate;
