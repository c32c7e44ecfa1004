package io.varve.server.testing;

import io.varve.server.differential.random.ScriptStep;

/** Receives a command of a random script, and occasionally makes its arity wrong. Confined to the test's thread. */
@FunctionalInterface
public interface CommandSink {
    void add(ScriptStep.Comparison comparison, String... arguments);
}
