/** Runs of YCSB's own client against a server, with or without databases behind it. */
@org.jspecify.annotations.NullMarked
package io.varve.experiments.run.ycsb;
