/**
 * Commands on the whole server: INFO, FLUSHALL, SHUTDOWN, CONFIG and the like.
 *
 * <p>This package holds the commands. It must not hold the measurements ({@code io.varve.server.admin}) or the settings
 * ({@code io.varve.server.config}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.server;
