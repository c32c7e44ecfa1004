/**
 * The server as a whole: INFO, FLUSHALL, SHUTDOWN, CONFIG and the like.
 *
 * <p>Lives here: the commands. Must not live here: what is measured ({@code io.varve.server.admin}), and the settings ({@code
 * io.varve.server.config}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.server;
