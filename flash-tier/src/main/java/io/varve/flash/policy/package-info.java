/**
 * Replacement policies: which cached key is evicted when the cache is full. Pure: no I/O, no clock, no store.
 *
 * <p>Lives here: the data that a policy keeps about keys, and the search for a victim. Must not live here: the storage
 * of the keys.
 */
@org.jspecify.annotations.NullMarked
package io.varve.flash.policy;
