/**
 * A load generator with a fixed schedule, in its own process.
 *
 * <p>Lives here: the due time of a request, its command, the time of its reply, and the latency distribution. Must not
 * live here: servers and their own statistics.
 */
@org.jspecify.annotations.NullMarked
package io.varve.experiments.paced;
