/**
 * Keys that clients watch or wait for: their names on the heap, and a filter that rules out all others quickly.
 *
 * <p>Lives here: the representation of a key outside the cache. Must not live here: which clients are interested, and
 * in what.
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.keys;
