/**
 * Caches without values: what a policy would hit, and what theory says that it should. Pure.
 *
 * <p>Lives here: keys and counts. Must not live here: how a trace is read, and what becomes of the figures.
 */
@org.jspecify.annotations.NullMarked
package io.varve.flash.simulation;
