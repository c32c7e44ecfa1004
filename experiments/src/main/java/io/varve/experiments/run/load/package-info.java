/** Generators of load: batches of SET, sequential and alternating loads, and closed loops over sockets. */
@org.jspecify.annotations.NullMarked
package io.varve.experiments.run.load;
