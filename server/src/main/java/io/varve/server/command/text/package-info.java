/**
 * How commands read and write texts: patterns and numbers.
 *
 * <p>Lives here: what needs an address and a length and nothing else. Must not live here: anything that knows a command, an item
 * or the protocol.
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.text;
