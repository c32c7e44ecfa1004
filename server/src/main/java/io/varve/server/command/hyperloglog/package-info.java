/**
 * Cardinality estimation: PFADD, PFCOUNT, PFMERGE, PFDEBUG.
 *
 * <p>Lives here: the commands on HyperLogLogs, which are strings. Must not live here: registers and the estimate, which are
 * {@code io.varve.memory.collection.hyperloglog}.
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.hyperloglog;
