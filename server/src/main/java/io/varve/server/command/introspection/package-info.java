/**
 * What the server tells of its insides: COMMAND, OBJECT, DEBUG, MEMORY, SLOWLOG, LATENCY, MONITOR.
 *
 * <p>Lives here: commands that look at commands, at how values are kept, and at what was slow. Must not live here: what is
 * measured ({@code io.varve.server.admin}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.introspection;
