/**
 * Commands as data and what they do: a table of specifications, one class of handlers per family, and the dispatcher
 * that binds keys, locks shards and runs them.
 *
 * <p>Lives here: everything a command may ask for while it runs. Must not live here: sockets and event loops (room
 * {@code net}), or the protocol's bytes (room {@code resp}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command;
