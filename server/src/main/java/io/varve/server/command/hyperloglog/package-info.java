/**
 * Cardinality estimation: PFADD, PFCOUNT, PFMERGE, PFDEBUG.
 *
 * <p>This package holds the commands on HyperLogLogs, which are strings. It must not hold registers and estimates
 * ({@code io.varve.memory.collection.hyperloglog}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.hyperloglog;
