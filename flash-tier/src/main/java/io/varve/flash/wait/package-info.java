/**
 * How threads wait for those of the flash tier: while they hold shards, and at the end.
 *
 * <p>Lives here: waits that could otherwise last for ever. Must not live here: items, files.
 */
@org.jspecify.annotations.NullMarked
package io.varve.flash.wait;
