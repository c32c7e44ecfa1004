/**
 * Locality: reuse times of keys, average eviction times, miss-ratio curves, and what follows from them: how memory is best divided among classes,
 * and when a class's demand comes and goes.
 *
 * <p>A line belongs here if it knows probability; pure, no I/O. Must not live here: what knows an item, a shard or a command. A key
 * is 64 well mixed bits, a time a count of accesses.
 */
@org.jspecify.annotations.NullMarked
package io.varve.memory.locality;
