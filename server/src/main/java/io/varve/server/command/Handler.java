package io.varve.server.command;

/**
 * The implementation of a command. Immutable, shared by all event loops.
 *
 * <p>While it runs, the shards of its keys are locked. Its reply is buffered until it returns, so the same handler
 * serves a connection, a transaction and a script.
 */
@FunctionalInterface
public interface Handler {
    void run(CommandContext context);
}
