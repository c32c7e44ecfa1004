package io.varve.experiments;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/**
 * The exit status and the output of a command that ran in this process. Immutable.
 *
 * @param out standard output
 * @param err standard error
 */
public record CommandOutput(int status, String out, String err) {
    /** Runs a command. It replaces the streams of the process meanwhile, so one thread at a time calls it. */
    public static CommandOutput run(String... arguments) {
        PrintStream standardOut = System.out;
        PrintStream standardError = System.err;
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
        try {
            int status = Experiments.execute(arguments);
            return new CommandOutput(status, out.toString(StandardCharsets.UTF_8),
                    err.toString(StandardCharsets.UTF_8));
        } finally {
            System.setOut(standardOut);
            System.setErr(standardError);
        }
    }
}
