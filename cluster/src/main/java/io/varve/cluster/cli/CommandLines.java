package io.varve.cluster.cli;

import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;

import picocli.CommandLine;

/** How the verbs of this package fail: one line on standard error, and the exit status. Stateless. */
final class CommandLines {
    static final int FAILED = 1;
    static final int BAD_SETTING = 2;

    private CommandLines() {}

    /** @return the exit status: 2 for a wrong setting, 1 for another failure */
    static int execute(Object command, List<String> arguments, PrintWriter out, PrintWriter err) {
        CommandLine commandLine = new CommandLine(command).setOut(out).setErr(err);
        commandLine.setParameterExceptionHandler((wrong, _) -> {
            wrong.getCommandLine().getErr().println("varve: " + firstLine(wrong));
            return BAD_SETTING;
        });
        commandLine.setExecutionExceptionHandler((failed, line, _) -> {
            line.getErr().println("varve: " + firstLine(failed));
            return failed instanceof IllegalArgumentException ? BAD_SETTING : FAILED;
        });
        return commandLine.execute(arguments.toArray(String[]::new));
    }

    static PrintWriter standardOutput() {
        return new PrintWriter(System.out, true, StandardCharsets.UTF_8);
    }

    static PrintWriter standardError() {
        return new PrintWriter(System.err, true, StandardCharsets.UTF_8);
    }

    private static String firstLine(Exception failed) {
        String message = failed.getMessage();
        return message == null ? failed.toString() : message.lines().findFirst().orElse(failed.toString());
    }
}
