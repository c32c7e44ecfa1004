package io.varve.experiments.run;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

import io.varve.experiments.paced.IdleProbe;
import io.varve.experiments.server.Pinning;

/** {@link IdleProbe} in a JVM of its own on the server's core. Confined to the thread that runs it. */
final class IdleProcess implements AutoCloseable {
    /** What the server's event loops ask for by default, us. */
    private static final String SLICE_MICROS = "100";

    private final Process process;

    private IdleProcess(Process process) {
        this.process = process;
    }

    static IdleProcess start(RunContext context) throws IOException {
        List<String> command = PacedProcess.command(IdleProbe.class);
        // The system is asked for the time slice by a native call.
        command.add(1, "--enable-native-access=ALL-UNNAMED");
        command.add(SLICE_MICROS);
        return new IdleProcess(new ProcessBuilder(Pinning.command(context.pinning.server(), command))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start());
    }

    /** What counts begins. */
    void reset() throws IOException {
        process.getOutputStream().write('\n');
        process.getOutputStream().flush();
    }

    /** @return the longest hiccup since then in ms, and how many were of a millisecond or more */
    double[] end() throws IOException {
        process.getOutputStream().close();
        try (BufferedReader in = process.inputReader(StandardCharsets.UTF_8)) {
            String line = in.readLine();
            if (line == null || !line.matches("[0-9.]+ [0-9]+")) {
                throw new IOException("the idle process printed: " + line);
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
