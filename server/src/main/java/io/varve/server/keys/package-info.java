/**
 * Keys in which somebody outside the cache has an interest, be it to watch them or to wait for them: their names on the heap,
 * and a quick no for all others.
 *
 * <p>Lives here: what a key's name is beside the cache. Must not live here: who is interested, and in what.
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.keys;
