/**
 * The servers under test.
 *
 * <p>Lives here: how each kind is started, found, described and stopped, and the requests to the machine's cores
 * meanwhile. Must not live here: load and measurement.
 */
@org.jspecify.annotations.NullMarked
package io.varve.experiments.server;
