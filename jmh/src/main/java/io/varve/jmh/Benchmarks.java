package io.varve.jmh;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;

import io.varve.memory.index.IndexProbes;
import io.varve.server.system.StandardError;

/**
 * The command line: {@code jmh [REGEX] [JMH OPTIONS]}, {@code jmh --compare A B}, {@code jmh --probes [KEYS]}.
 * Immutable: static methods only.
 */
public final class Benchmarks {
    private static final int BAD_ARGUMENT = 2;
    private static final String COMPARE = "--compare";
    private static final String PROBES = "--probes";

    private Benchmarks() {}

    public static void main(String[] arguments) throws IOException {
        StandardError.restore();
        int status = run(List.of(arguments), System.out, System.err);
        if (status != 0) {
            System.exit(status);
        }
    }

    static int run(List<String> arguments, PrintStream out, PrintStream err) throws IOException {
        try {
            switch (arguments.isEmpty() ? "" : arguments.getFirst()) {
                case COMPARE -> compare(arguments.subList(1, arguments.size()), out);
                case PROBES -> probe(arguments.subList(1, arguments.size()), out);
                default -> org.openjdk.jmh.Main.main(arguments.toArray(String[]::new));
            }
            return 0;
        } catch (ResultException bad) {
            err.println("varve: " + bad.getMessage());
            return BAD_ARGUMENT;
        }
    }

    private static void compare(List<String> files, PrintStream out) {
        if (files.size() != 2) {
            throw new ResultException("jmh " + COMPARE + ": takes two result files (of -rf json -rff FILE), not "
                    + files.size());
        }
        Comparison.of(Results.read(Path.of(files.getFirst())), Results.read(Path.of(files.getLast()))).print(out);
    }

    private static void probe(List<String> keys, PrintStream out) {
        if (keys.size() > 1) {
            throw new ResultException("jmh " + PROBES + ": takes one number of keys, not " + keys.size());
        }
        IndexProbes.print(keys.isEmpty() ? IndexProbes.DEFAULT_KEYS : number(keys.getFirst()), out);
    }

    private static int number(String text) {
        try {
            int number = Integer.parseInt(text);
            if (number >= 1 && number <= IndexProbes.MAX_KEYS) {
                return number;
            }
        } catch (NumberFormatException none) {
            throw new ResultException("jmh " + PROBES + " " + text + ": expected 1 to " + IndexProbes.MAX_KEYS,
                    none);
        }
        throw new ResultException("jmh " + PROBES + " " + text + ": expected 1 to " + IndexProbes.MAX_KEYS);
    }
}
