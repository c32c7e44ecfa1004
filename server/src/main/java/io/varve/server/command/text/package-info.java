/**
 * Text formats of commands: patterns and numbers.
 *
 * <p>This package holds functions that only need an address and a length. It must not hold anything that depends on
 * commands, items or the protocol.
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.text;
