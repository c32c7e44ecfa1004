/**
 * As much of a Redis client as measuring needs.
 *
 * <p>Lives here: one blocking connection, and INFO as numbers. Must not live here: anything of Varve's server: what is measured is reached over the wire alone.
 */
@org.jspecify.annotations.NullMarked
package io.varve.experiments.wire;
