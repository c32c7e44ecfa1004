package io.varve.server.command;

/**
 * What a command does. Immutable, shared by all event loops.
 *
 * <p>When it runs, the shards of its keys are locked and what it replies is held back until it returns, so that the same
 * handler serves a connection, a transaction and a script.
 */
@FunctionalInterface
public interface Handler {
    void run(Invocation call);
}
