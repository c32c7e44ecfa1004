/**
 * The interface of a database, on flash or on disk, to the tier.
 *
 * <p>Lives here: the contract. Must not live here: a database's library.
 */
@org.jspecify.annotations.NullMarked
package io.varve.flash.store;
