package io.varve.experiments.run.speed;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import io.varve.experiments.definition.InvalidExperimentException;
import io.varve.experiments.run.context.Cancellation;
import io.varve.experiments.server.Pinning;
import io.varve.experiments.server.Target;

/** Runs Redis's own load generator, redis-benchmark, in its own process. Immutable. */
public final class RedisBenchmark {
    private static final String NAME = "redis-benchmark";
    private static final long POLL_MILLIS = 50;
    /** A number of requests that no load reaches. */
    private static final long ENDLESS = 2_000_000_000;
    /** In the name of a default test that prepares the following ones. */
    private static final String PREPARES = "needed to benchmark";
    /** The columns of a CSV row: test, rps, then the latencies avg, min, p50, p95, p99, max. */
    private static final int NUMBERS = 7;
    private static final int P50 = 3;
    private static final int P99 = 5;

    private final Path program;
    private final Pinning pinning;

    /**
     * @param pinning the cores of the load: it gets a thread for each of them, since one thread does not keep several
     *     event loops busy
     */
    public RedisBenchmark(Path program, Pinning pinning) {
        this.program = program;
        this.pinning = pinning;
    }

    /**
     * The result of one test.
     *
     * @param ops requests a second
     * @param p50Millis latency
     * @param p99Millis latency
     */
    public record Result(double ops, double p50Millis, double p99Millis) {}

    /** @throws InvalidExperimentException if it is not on the path */
    public static Path find(String path) {
        for (String directory : path.split(File.pathSeparator, -1)) {
            Path candidate = Path.of(directory.isEmpty() ? "." : directory, NAME);
            if (Files.isExecutable(candidate) && Files.isRegularFile(candidate)) {
                return candidate;
            }
        }
        throw new InvalidExperimentException(NAME + " is not on PATH: the throughput measurement needs it. Install "
                + "redis-tools (Debian, Ubuntu) or redis (Fedora, Arch, Homebrew), version 7 or newer");
    }

    /**
     * Runs one test to its end, or until it is cancelled.
     *
     * @param keys range of {@code __rand_int__}
     * @param command the command with its arguments
     */
    public Result run(Target target, int connections, int pipeline, long keys, long requests, List<String> command,
            Cancellation cancellation)
            throws IOException {
        List<String> words = words(target, connections, pipeline, requests);
        words.addAll(List.of("-r", String.valueOf(keys)));
        words.addAll(command);
        return parse(printed(words, cancellation));
    }

    /**
     * Runs its default tests once, or until it is cancelled.
     *
     * @param requests number of requests of each test
     * @return requests a second by test, in the order of execution
     */
    Map<String, Double> runDefaultTests(Target target, int connections, int pipeline, long requests,
            Cancellation cancellation) throws IOException {
        return parseTests(printed(words(target, connections, pipeline, requests), cancellation));
    }

    /** Starts a load that ends when the process is destroyed. */
    Process start(Target target, int connections, int pipeline, long keys, List<String> command) throws IOException {
        List<String> words = words(target, connections, pipeline, ENDLESS);
        words.addAll(List.of("-r", String.valueOf(keys)));
        words.addAll(command);
        Process process = new ProcessBuilder(Pinning.command(pinning.load(), words)).redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
        process.getOutputStream().close();
        return process;
    }

    private List<String> words(Target target, int connections, int pipeline, long requests) {
        List<String> words = new ArrayList<>(List.of(program.toString(), "-h", target.host(), "-p",
                String.valueOf(target.port()), "-c", String.valueOf(connections), "-P", String.valueOf(pipeline), "-n",
                String.valueOf(requests), "--csv", "--precision", "3"));
        if (pinning.loadCores() > 1) {
            words.addAll(List.of("--threads", String.valueOf(pinning.loadCores())));
        }
        return words;
    }

    private String printed(List<String> words, Cancellation cancellation) throws IOException {
        Process process = new ProcessBuilder(Pinning.command(pinning.load(), words)).redirectErrorStream(true).start();
        try {
            process.getOutputStream().close();
            // A line for each test: far less than a pipe holds, so that no reader is needed while it runs.
            while (!process.waitFor(POLL_MILLIS, TimeUnit.MILLISECONDS)) {
                if (cancellation.isCancelled()) {
                    throw new IOException("stopped");
                }
            }
            String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (process.exitValue() != 0) {
                throw new IOException(NAME + " ended with status " + process.exitValue() + ": " + printed.strip());
            }
            return printed;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while " + NAME + " ran", e);
        } finally {
            process.destroyForcibly();
        }
    }

    /**
     * Reads all rows of the output of {@code --csv}.
     *
     * @return requests a second by test, without what its name has in parentheses; without the test that only prepares
     *     others
     */
    public static Map<String, Double> parseTests(String printed) throws IOException {
        Map<String, Double> tests = new LinkedHashMap<>();
        for (String row : printed.lines().map(String::strip).filter(row -> row.startsWith("\"")).toList()) {
            String name = row.substring(1, row.indexOf('"', 1));
            if (!name.equals("test") && !name.contains(PREPARES)) {
                tests.put(name.replaceFirst(" \\(.*", ""), parse(row).ops());
            }
        }
        if (tests.isEmpty()) {
            throw new IOException(NAME + " printed no result: " + printed.strip());
        }
        return tests;
    }

    /** Reads the last row of the output of {@code --csv}; the test's name in it may contain commas and quotes. */
    public static Result parse(String printed) throws IOException {
        List<String> rows = printed.lines().map(String::strip).filter(row -> row.startsWith("\"")).toList();
        if (rows.isEmpty() || rows.getLast().startsWith("\"test\"")) {
            throw new IOException(NAME + " printed no result: " + printed.strip());
        }
        String[] cells = rows.getLast().split("\",\"", -1);
        if (cells.length <= NUMBERS) {
            throw new IOException(
                    NAME + " printed a row of " + cells.length + " cells: version 7 or newer is needed: "
                            + rows.getLast());
        }
        double[] numbers = new double[NUMBERS];
        for (int i = 0; i < NUMBERS; i++) {
            String cell = cells[cells.length - NUMBERS + i].replace("\"", "");
            try {
                numbers[i] = Double.parseDouble(cell);
            } catch (NumberFormatException e) {
                throw new IOException(NAME + " printed '" + cell + "' instead of a number"
                        + (cell.equals("inf") ? ": it was over within a millisecond; expected more requests" : ""), e);
            }
        }
        return new Result(numbers[0], numbers[P50], numbers[P99]);
    }
}
