package io.varve.testing;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

/**
 * The standard output of a process, line by line. A daemon thread reads it; the rest is confined to the test's thread.
 *
 * <p>A test that reads the pipe itself has no deadline: an interrupt does not end the read.
 */
public final class ProcessOutput {
    private static final int DEADLINE_SECONDS = 120;

    /** An empty one is the end. */
    private final BlockingQueue<Optional<String>> lines = new LinkedBlockingQueue<>();
    private final StringBuilder taken = new StringBuilder();
    private final int deadlineSeconds;
    /** The reason why the end is none of the process. */
    private volatile @Nullable IOException failure;
    private boolean isAtEnd;

    private ProcessOutput(int deadlineSeconds) {
        this.deadlineSeconds = deadlineSeconds;
    }

    /** Begins to read. Nobody else may read the process's output from now on. */
    public static ProcessOutput of(Process process) {
        return of(process, DEADLINE_SECONDS);
    }

    static ProcessOutput of(Process process, int deadlineSeconds) {
        ProcessOutput output = new ProcessOutput(deadlineSeconds);
        Thread.ofPlatform().daemon().name("process-output").start(() -> output.read(process));
        return output;
    }

    private void read(Process process) {
        try (BufferedReader in = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                lines.add(Optional.of(line));
            }
        } catch (IOException failed) {
            // Also if the process is destroyed: that closes the pipe.
            failure = failed;
        } finally {
            lines.add(Optional.empty());
        }
    }

    /**
     * Returns the next line; null at the end.
     *
     * @throws AssertionError if the process prints none for two minutes, or was destroyed and its pipe closed
     */
    public @Nullable String next() throws InterruptedException {
        if (isAtEnd) {
            return null;
        }
        Optional<String> line = lines.poll(deadlineSeconds, TimeUnit.SECONDS);
        if (line == null) {
            throw new AssertionError("The process has printed nothing for " + deadlineSeconds + " s after:\n" + taken);
        }
        isAtEnd = line.isEmpty();
        if (isAtEnd && failure != null) {
            throw new AssertionError("The output cannot be read any more, after:\n" + taken, failure);
        }
        line.ifPresent(text -> taken.append(text).append('\n'));
        return line.orElse(null);
    }

    /**
     * Takes the lines up to one with a text.
     *
     * @throws AssertionError if the process ends before, or prints nothing for two minutes
     */
    public void awaitLine(String text) throws InterruptedException {
        for (String line = next(); line != null; line = next()) {
            if (line.contains(text)) {
                return;
            }
        }
        throw new AssertionError("The process has ended without \"" + text + "\":\n" + taken);
    }

    /**
     * Takes all lines.
     *
     * @throws AssertionError if the process does not end, and prints nothing for two minutes
     */
    public void awaitEnd() throws InterruptedException {
        while (next() != null) {
            // The lines are kept.
        }
    }

    /** The lines that were taken so far. */
    public String text() {
        return taken.toString();
    }
}
