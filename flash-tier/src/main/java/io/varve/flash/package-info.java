/**
 * A cache on flash in front of a database on disk: the TBF paper's prototype.
 *
 * <p>Lives here: the entry point of the prototype; that of the server's tier is in {@code tier}. Must not live here:
 * the server, the network, a store's library.
 */
@org.jspecify.annotations.NullMarked
package io.varve.flash;
