/**
 * What runs commands: the dispatcher takes them from a batch, asks whether they may run, makes room, locks shards and calls
 * their handlers.
 *
 * <p>Lives here: what is decided and counted around each command, how those of a transaction run as one, and how one waits whose shards are held for
 * long. Must not live here:
 * what any command does; the dispatcher knows handlers only by their descriptions.
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.dispatch;
