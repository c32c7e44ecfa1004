/**
 * A minimal Redis client for measurements.
 *
 * <p>Lives here: one blocking connection, and INFO as numbers. Must not live here: anything of Varve's server; a server
 * under test is reached over the network only.
 */
@org.jspecify.annotations.NullMarked
package io.varve.experiments.wire;
