/**
 * Replacement policies: which cached key goes when room is needed. Pure: no I/O, no clock, no store.
 *
 * <p>Lives here: what is remembered of a key, and how a victim is found. Must not live here: where the keys are kept.
 */
@org.jspecify.annotations.NullMarked
package io.varve.flash.policy;
