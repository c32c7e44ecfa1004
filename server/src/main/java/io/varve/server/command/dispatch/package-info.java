/**
 * Command execution: the dispatcher takes commands from a batch, checks that they may run, frees memory, locks shards
 * and calls their handlers.
 *
 * <p>This package holds the checks and counts around each command, the execution of transactions, and the wait for
 * shards that are locked for long. It must not hold the work of any command; the dispatcher knows handlers only by
 * their specs.
 */
@org.jspecify.annotations.NullMarked
package io.varve.server.command.dispatch;
