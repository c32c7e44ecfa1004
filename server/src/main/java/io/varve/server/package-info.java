/**
 * The composition root: it creates the objects of all packages and contains the program that runs them.
 *
 * <p>Lives here: {@link io.varve.server.VarveServer} and {@code Main}. Must not live here: the byte format of the
 * protocol, or the effect of a command.
 */
@org.jspecify.annotations.NullMarked
package io.varve.server;
