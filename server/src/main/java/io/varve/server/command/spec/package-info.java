/**
 * Commands as pure data: names, arity, flags, traits, keys, channels and categories.
 *
 * <p>This package must not refer to handlers or to the state of the server.
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.spec;
