package io.varve.experiments.run.context;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

import io.varve.experiments.paced.IdleProbe;
import io.varve.experiments.server.Pinning;

/** Runs {@link IdleProbe} in its own JVM on the server's core. Confined to the thread that runs it. */
public final class IdleProcess implements AutoCloseable {
    /** The default slice of the server's event loops, us. */
    private static final String SLICE_MICROS = "100";

    private final Process process;

    private IdleProcess(Process process) {
        this.process = process;
    }

    public static IdleProcess start(RunContext context) throws IOException {
        List<String> command = PacedProcess.command(IdleProbe.class);
        // The time slice needs a native call.
        command.add(1, "--enable-native-access=ALL-UNNAMED");
        command.add(SLICE_MICROS);
        return new IdleProcess(new ProcessBuilder(Pinning.command(context.pinning.server(), command))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start());
    }

    /** Restarts the measurement. */
    public void reset() throws IOException {
        process.getOutputStream().write('\n');
        process.getOutputStream().flush();
    }

    /** @return the longest hiccup since then in ms, and the number of hiccups of 1 ms or more */
    public double[] end() throws IOException {
        process.getOutputStream().close();
        try (BufferedReader in = process.inputReader(StandardCharsets.UTF_8)) {
            String line = in.readLine();
            if (line == null || !line.matches("[0-9.]+ [0-9]+")) {
                throw new IOException("unexpected output of the idle process: " + line);
            }
            int space = line.indexOf(' ');
            return new double[] {Double.parseDouble(line.substring(0, space)),
                    Double.parseDouble(line.substring(space + 1))};
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
