package io.varve.experiments;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Stack;

import io.varve.experiments.definition.InvalidExperimentException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.IParameterPreprocessor;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/**
 * The option {@code --csv}: it prints only CSV on standard output; {@code --csv=FILE} writes CSV to a file beside the
 * usual output. Confined to the main thread.
 */
final class CsvOption {
    @Option(names = "--csv", paramLabel = "FILE", preprocessor = AttachedValue.class, description = "print only CSV; --csv=FILE writes CSV to a file and prints the usual table")
    private @Nullable String target;

    /** The option takes a value only after an equals sign: the next argument may be a trace. */
    @SuppressWarnings("JdkObsolete") // the interface of picocli has a Stack
    static final class AttachedValue implements IParameterPreprocessor {
        @Override
        public boolean preprocess(Stack<String> arguments, CommandSpec command, ArgSpec option,
                Map<String, Object> info) {
            if (!"=".equals(info.get("separator"))) {
                arguments.push("");
            }
            return false;
        }
    }

    /** Whether standard output is for CSV only. */
    boolean isOnly() {
        return "".equals(target);
    }

    /**
     * Opens the writer of the CSV, which the caller closes.
     *
     * @param out standard output, which is flushed and stays open
     * @return null if no CSV is requested
     * @throws InvalidExperimentException if the file cannot be written
     */
    @Nullable
    PrintWriter open(PrintWriter out) {
        String file = target;
        if (file == null) {
            return null;
        }
        if (file.isEmpty()) {
            return new PrintWriter(out) {
                @Override
                public void close() {
                    flush();
                }
            };
        }
        try {
            return new PrintWriter(Files.newBufferedWriter(Path.of(file), StandardCharsets.UTF_8)) {
                @Override
                public void close() {
                    super.close();
                    if (checkError()) {
                        throw new InvalidExperimentException("--csv=" + file + ": the file could not be written");
                    }
                }
            };
        } catch (IOException refused) {
            throw new InvalidExperimentException(
                    "--csv=" + file + ": the file cannot be written: " + refused.getMessage(),
                    refused);
        }
    }
}
