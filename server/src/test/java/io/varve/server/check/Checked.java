package io.varve.server.check;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

import io.varve.memory.item.Ticker;

/**
 * The output of a check. Immutable.
 *
 * @param status the exit status
 */
record Checked(int status, String out, String err) {
    /** Runs a check as the launcher does, on no terminal. */
    static Checked run(String... arguments) {
        return run(Ticker.system(), false, arguments);
    }

    static Checked run(Ticker ticker, boolean terminal, String... arguments) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        int status = new FileCheck(ticker, terminal, new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8)).run(List.of(arguments));
        return new Checked(status, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
    }

    /** The line that begins with a text, blanks merged. */
    String line(String beginning) {
        return out.lines().map(line -> line.strip().replaceAll(" +", " ")).filter(line -> line.startsWith(beginning))
                .findFirst().orElse("no line " + beginning + " in:\n" + out);
    }

    String lastLine() {
        return out.lines().toList().getLast();
    }
}
