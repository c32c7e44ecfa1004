/** Runs that measure memory: bytes per key, fragmentation, the cleaner, and what fits into maxmemory. */
@org.jspecify.annotations.NullMarked
package io.varve.experiments.run.memory;
