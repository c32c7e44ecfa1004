package io.varve.cluster.demo;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** The processes of the tour, and their folder, which goes with them. Thread-safe: guarded by its own monitor. */
final class DemoProcesses implements AutoCloseable {
    private final String launcher;
    private final Path folder;
    private final Map<Integer, Process> running = new LinkedHashMap<>();
    private final Map<Integer, List<String>> commands = new LinkedHashMap<>();
    private boolean closed;

    /** @param launcher the program that starts servers and controllers */
    DemoProcesses(String launcher) throws IOException {
        this.launcher = launcher;
        folder = Files.createTempDirectory("varve-demo");
    }

    Path folder() {
        return folder;
    }

    /** Starts a verb of the launcher on a port, with a folder and a log of its own. */
    synchronized void start(int port, String verb, List<String> options) throws IOException {
        requireOpen();
        Path own = Files.createDirectories(folder.resolve(verb + "-" + port));
        List<String> command = new ArrayList<>(List.of(launcher, verb, "--port", Integer.toString(port), "--dir",
                own.toString()));
        command.addAll(options);
        commands.put(port, command);
        startAgain(port);
    }

    /** Starts the process of a port again. */
    synchronized void startAgain(int port) throws IOException {
        requireOpen();
        Path log = folder.resolve(port + ".log");
        ProcessBuilder builder = new ProcessBuilder(commands.get(port))
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                .redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()));
        // The launcher of a clone has built everything before the tour.
        builder.environment().put("VARVE_NO_BUILD", "1");
        running.put(port, builder.start());
    }

    /** Fails after the end: nothing may come into the folder then. */
    private void requireOpen() throws IOException {
        if (closed) {
            throw new IOException("the demo has ended");
        }
    }

    /** Ends a process as a power failure does. */
    synchronized void kill(int port) throws InterruptedException {
        Process process = running.remove(port);
        if (process != null) {
            process.destroyForcibly().waitFor();
        }
    }

    /** The last line that a process has written; empty if there is none. */
    synchronized String lastLine(int port) throws IOException {
        Path log = folder.resolve(port + ".log");
        List<String> lines = Files.exists(log) ? Files.readAllLines(log) : List.of();
        return lines.isEmpty() ? "" : lines.getLast();
    }

    /** The ports of processes that should run, and do not. */
    synchronized List<Integer> ended() {
        return running.entrySet().stream().filter(one -> !one.getValue().isAlive()).map(Map.Entry::getKey).toList();
    }

    /** Ends all processes and removes the folder. */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        running.values().forEach(Process::destroyForcibly);
        running.values().forEach(process -> process.onExit().join());
        running.clear();
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        } catch (IOException failed) {
            throw new UncheckedIOException("the folder " + folder + " cannot be removed", failed);
        }
    }
}
