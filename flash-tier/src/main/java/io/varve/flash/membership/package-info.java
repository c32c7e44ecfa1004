/**
 * Approximate sets in memory that rule out keys that are not on flash, without access to flash.
 *
 * <p>Lives here: sets of keys that support removal. Must not live here: files, policies.
 */
@org.jspecify.annotations.NullMarked
package io.varve.flash.membership;
