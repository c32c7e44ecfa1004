/**
 * What the tier asks of a database, be it on flash or on disk.
 *
 * <p>Lives here: the contract. Must not live here: a database's library.
 */
@org.jspecify.annotations.NullMarked
package io.varve.flash.store;
