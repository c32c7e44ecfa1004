/**
 * The tier below memory: items that memory evicts, kept on flash until they are asked for.
 *
 * <p>Lives here: what is where, who does what in which order, what survives. Must not live here: how a policy chooses, where a
 * byte is, what a database is.
 */
@org.jspecify.annotations.NullMarked
package io.varve.flash.tier;
