/**
 * Runs that measure time: throughput, latency, redis-benchmark's tests, sorted sets and the Redis++ paper's requests.
 */
@org.jspecify.annotations.NullMarked
package io.varve.experiments.run.speed;
