package io.varve.server.differential.random;

import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;

import io.varve.server.testing.CommandSink;

import static io.varve.server.differential.random.ScriptStep.Comparison.EXACT;

/** Draws random commands of one family. Confined to the test's thread. */
abstract class CommandGenerator {
    /** The words that all families share, drawn from {@link #random}. */
    final RandomWords draw;
    final SplittableRandom random;
    /** Whether the reference has the commands and options that came with Redis 7. */
    final boolean knows7;
    final CommandSink sink;
    /** Takes a command whose arity has to be right. */
    private final Consumer<ScriptStep> asItIs;

    CommandGenerator(Source source) {
        draw = source.words;
        random = draw.source();
        knows7 = source.knows7;
        sink = source.sink;
        asItIs = source.asItIs;
    }

    /**
     * The parts that the generators of one script share.
     *
     * @param knows7 whether the reference has the commands and options of Redis 7
     * @param sink takes a command, and may make its arity wrong
     * @param asItIs takes a command whose arity has to be right
     */
    record Source(RandomWords words, boolean knows7, CommandSink sink, Consumer<ScriptStep> asItIs) {}

    /** Draws a command, or a few that belong together. */
    abstract void any();

    final String one(String... choices) {
        return draw.one(choices);
    }

    final boolean oneIn(int n) {
        return draw.oneIn(n);
    }

    /** Adds a command whose replies must be equal byte for byte. */
    final void add(String... command) {
        sink.add(EXACT, command);
    }

    final void addAsIs(String... command) {
        addAsIs(ScriptStep.exact(command));
    }

    final void addAsIs(ScriptStep step) {
        asItIs.accept(step);
    }

    final void add(List<String> command) {
        add(command.toArray(String[]::new));
    }
}
