package io.varve.experiments.run.context;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

import io.varve.experiments.paced.GapProbe;
import io.varve.experiments.paced.PacedLoad;
import io.varve.experiments.paced.PacedSettings;
import io.varve.experiments.server.Pinning;

/** Runs our own generator in its own JVM, on its own core. Confined to the thread that runs it. */
public final class PacedProcess {
    /**
     * Large enough for a whole run without a collection: a pause of the generator would look like one of the server.
     */
    private static final List<String> HEAP = List.of("-Xms256m", "-Xmx256m", "-Xmn224m", "-XX:+UseSerialGC");
    private static final int LAST_LINES = 5;

    private final RunContext context;

    public PacedProcess(RunContext context) {
        this.context = context;
    }

    /**
     * Runs the load to its end, or until the run is cancelled.
     *
     * @param prepare runs one second before the counted part begins
     * @throws IOException if the generator failed
     */
    public void run(PacedSettings settings, RunContext.Part prepare) throws IOException {
        run(settings, List.of(), prepare);
    }

    /**
     * Runs the load to its end, or until the run is cancelled.
     *
     * @param more further words for the generator, such as those of a rehearsal
     * @param prepare runs one second before the counted part begins
     * @throws IOException if the generator failed
     */
    public void run(PacedSettings settings, List<String> more, RunContext.Part prepare) throws IOException {
        List<String> command = command(PacedLoad.class);
        command.addAll(settings.words());
        command.addAll(more);
        Process process = new ProcessBuilder(Pinning.command(context.pinning.load(), command))
                .redirectErrorStream(true)
                .start();
        process.getOutputStream().close();
        boolean done = false;
        Deque<String> last = new ArrayDeque<>();
        try (BufferedReader in = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                if (line.startsWith(PacedLoad.OPS)) {
                    context.gauge.set(Double.parseDouble(line.substring(PacedLoad.OPS.length())));
                    if (context.cancellation.isCancelled() || context.isFailed()) {
                        return;
                    }
                } else if (line.equals(PacedLoad.PREPARE)) {
                    prepare.run();
                } else if (line.equals(PacedLoad.DONE)) {
                    done = true;
                } else {
                    last.addLast(line);
                    if (last.size() > LAST_LINES) {
                        last.removeFirst();
                    }
                }
            }
            int status = process.waitFor();
            if (status != 0 || !done) {
                throw new IOException("the generator ended with status " + status + ": " + String.join(" | ", last));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            context.cancellation.cancel();
        } finally {
            context.gauge.set(0);
            process.destroyForcibly();
        }
    }

    /**
     * Measures how long the machine pauses a busy thread on the server's core.
     *
     * @return the longest gap in ms, and the number per second of gaps of 1 ms or more
     */
    public double[] probeServersCore(int seconds) throws IOException {
        List<String> command = command(GapProbe.class);
        command.add(String.valueOf(seconds));
        Process process = new ProcessBuilder(Pinning.command(context.pinning.server(), command))
                .redirectErrorStream(true)
                .start();
        try (BufferedReader in = process.inputReader(StandardCharsets.UTF_8)) {
            process.getOutputStream().close();
            String line = in.readLine();
            if (line == null || !line.matches("[0-9.]+ [0-9.]+")) {
                throw new IOException("unexpected output of the core's probe: " + line);
            }
            int space = line.indexOf(' ');
            return new double[] {Double.parseDouble(line.substring(0, space)),
                    Double.parseDouble(line.substring(space + 1))};
        } finally {
            process.destroyForcibly();
        }
    }

    static List<String> command(Class<?> main) {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        command.addAll(HEAP);
        command.addAll(List.of("-Xlog:disable", "-Xlog:all=error:stderr", "-XX:-UsePerfData", "-cp",
                System.getProperty("java.class.path"), main.getName()));
        return command;
    }
}
