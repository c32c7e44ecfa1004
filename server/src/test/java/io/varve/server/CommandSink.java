package io.varve.server;

/** Takes a command of a random script, and now and then makes its arity wrong. Confined to the test thread. */
@FunctionalInterface
interface CommandSink {
    void add(ScriptStep.Comparison comparison, String... arguments);
}
