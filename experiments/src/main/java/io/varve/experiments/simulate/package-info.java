/**
 * Caches on streams of keys, without a server: {@code ./varve simulate}, and what dividing memory could save.
 *
 * <p>Lives here: where keys come from (YCSB's generators, trace files), how popular they are in theory, what is told of a
 * simulation, and exact LRU that is divided between two kinds of keys. Must not live here: the replacement policies and the
 * simulated cache under them, which are the flash tier's.
 */
@org.jspecify.annotations.NullMarked
package io.varve.experiments.simulate;
