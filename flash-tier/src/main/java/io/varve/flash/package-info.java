/**
 * A cache on flash: what is cached there, and which of it goes when room is needed.
 *
 * <p>Lives here: the doors of the tier. Must not live here: the server, the network, a store's library.
 */
@org.jspecify.annotations.NullMarked
package io.varve.flash;
