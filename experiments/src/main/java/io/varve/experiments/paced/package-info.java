/**
 * A load generator that keeps to a schedule, in a process of its own.
 *
 * <p>Lives here: when a request is due, what it asks, when its reply came, and the distribution of the time between. Must not live here: servers and what they say of themselves.
 */
@org.jspecify.annotations.NullMarked
package io.varve.experiments.paced;
