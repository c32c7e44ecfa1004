/**
 * Simulated caches without values: the hits of a policy, and the hits that theory predicts. Pure.
 *
 * <p>Lives here: keys and counts. Must not live here: the reader of traces, and the use of the figures.
 */
@org.jspecify.annotations.NullMarked
package io.varve.flash.simulation;
