package io.varve.experiments;

import java.nio.file.Files;
import java.nio.file.Path;

import io.varve.experiments.definition.InvalidExperimentException;
import io.varve.server.system.StandardError;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/**
 * The command line: {@code run}, {@code experiments}, {@code reproduce}, {@code simulate} and
 * {@code mrc}. Confined to the main thread.
 */
@Command(name = "varve", subcommands = {RunCommand.class, ListCommand.class,
        ReproduceCommand.class, SimulateCommand.class, MrcCommand.class}, mixinStandardHelpOptions = true)
public final class Experiments {
    /** The status for bad input: nothing was started. */
    static final int STATUS_BAD_INPUT = 2;

    public static void main(String[] arguments) {
        StandardError.restore();
        System.exit(execute(arguments));
    }

    /** Executes a command and returns the status. */
    public static int execute(String... arguments) {
        return new CommandLine(new Experiments())
                .setExecutionExceptionHandler((exception, commandLine, _) -> {
                    if (exception instanceof InvalidExperimentException) {
                        commandLine.getErr().println("varve: " + exception.getMessage());
                        return STATUS_BAD_INPUT;
                    }
                    throw exception;
                })
                .execute(arguments);
    }

    /** The repository's root: as the launcher states it, else the nearest ancestor folder with the launcher. */
    static Path home() {
        String property = System.getProperty("varve.home");
        if (property != null) {
            return Path.of(property);
        }
        for (Path path = Path.of("").toAbsolutePath(); path != null; path = path.getParent()) {
            if (Files.isRegularFile(path.resolve("varve")) && Files.isDirectory(path.resolve("workloads"))) {
                return path;
            }
        }
        throw new InvalidExperimentException("this is not a checkout of Varve, and -Dvarve.home is not set");
    }
}
