/** Housekeeping of a cache: memory reclaim, lazy freeing, key statistics, and the demotion of classes. */
@org.jspecify.annotations.NullMarked
package io.varve.memory.maintenance;
