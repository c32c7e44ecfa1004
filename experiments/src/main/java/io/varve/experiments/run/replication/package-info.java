/** Runs that measure a primary without and with a replica, full synchronizations and catching up. */
@org.jspecify.annotations.NullMarked
package io.varve.experiments.run.replication;
