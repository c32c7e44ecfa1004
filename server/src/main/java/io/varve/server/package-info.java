/**
 * The composition root: what says {@code new} across rooms, and the program that runs it.
 *
 * <p>Lives here: {@link io.varve.server.VarveServer} and {@code Main}. Must not live here: anything that knows a byte of
 * the protocol or what a command does.
 */
@org.jspecify.annotations.NullMarked
package io.varve.server;
