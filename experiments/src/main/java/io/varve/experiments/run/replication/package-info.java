/** Runs that measure a primary without and with a replica, full synchronisations and catching up. */
@org.jspecify.annotations.NullMarked
package io.varve.experiments.run.replication;
