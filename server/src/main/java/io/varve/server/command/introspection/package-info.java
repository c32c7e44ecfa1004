/**
 * Introspection of the server: COMMAND, OBJECT, DEBUG, MEMORY, SLOWLOG, LATENCY, MONITOR.
 *
 * <p>This package holds commands that report on commands, on the storage of values, and on latencies. It must not hold
 * the measurements ({@code io.varve.server.admin}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.introspection;
