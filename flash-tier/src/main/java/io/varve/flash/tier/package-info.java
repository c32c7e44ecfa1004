/**
 * The tier below memory: items that memory evicts, kept on flash until they are requested.
 *
 * <p>Lives here: the location of items, the order of steps, durability. Must not live here: the choice of a policy, the
 * layout of bytes, a database's library.
 */
@org.jspecify.annotations.NullMarked
package io.varve.flash.tier;
