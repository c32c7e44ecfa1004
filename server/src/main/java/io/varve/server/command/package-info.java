/**
 * Commands as data, and what a handler is given: the description of a command, the call, its client, and what all commands
 * share.
 *
 * <p>Lives here: everything a command may ask for while it runs, and what is noted of it before. What runs it is room {@code
 * dispatch}; what it does is one room for each family; the list of all families is room {@code registry}. Must not live here:
 * anything that only one family needs, or that knows one of these rooms; sockets and event loops (room {@code net}); the
 * protocol's bytes (room {@code resp}).
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command;
