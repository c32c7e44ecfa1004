package io.varve.experiments.run;

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

/** Our own generator in a JVM of its own, on a core of its own. Confined to the thread that runs it. */
final class PacedProcess {
    /** Wide, so that a run fits into it and nothing is ever collected: a pause of the generator would look like one of the server. */
    private static final List<String> HEAP = List.of("-Xms256m", "-Xmx256m", "-Xmn224m", "-XX:+UseSerialGC");
    private static final int LAST_LINES = 5;

    private final RunContext context;

    PacedProcess(RunContext context) {
        this.context = context;
    }

    /**
     * Runs the load to its end, or until the run is stopped.
     *
     * @param prepare is done a second before what counts begins
     * @throws IOException if the generator failed
     */
    void run(PacedSettings settings, RunContext.Part prepare) throws IOException {
        List<String> command = command(PacedLoad.class);
        command.addAll(settings.words());
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
                    if (context.stop.isAsked() || context.isFailed()) {
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
            context.stop.ask();
        } finally {
            context.gauge.set(0);
            process.destroyForcibly();
        }
    }

    /**
     * How long the machine holds up a thread on the server's core that wants to run all the time.
     *
     * @return the longest gap in ms, and how many a second are of a millisecond or more
     */
    double[] probeServersCore(int seconds) throws IOException {
        List<String> command = command(GapProbe.class);
        command.add(String.valueOf(seconds));
        Process process = new ProcessBuilder(Pinning.command(context.pinning.server(), command))
                .redirectErrorStream(true)
                .start();
        try (BufferedReader in = process.inputReader(StandardCharsets.UTF_8)) {
            process.getOutputStream().close();
            String line = in.readLine();
            if (line == null || !line.matches("[0-9.]+ [0-9.]+")) {
                throw new IOException("the probe of the core printed: " + line);
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
