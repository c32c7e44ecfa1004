/**
 * Bloom filters over hashes of 64 bits.
 *
 * <p>Lives here: bits. Must not live here: the meaning of a bit to a policy.
 */
@org.jspecify.annotations.NullMarked
package io.varve.flash.bloom;
