package io.varve.server.testing;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

import io.varve.server.Main;

/**
 * A program for {@link io.varve.server.process.MainTest}: a server that gets SIGTERM while it prints that it is ready.
 * Confined to the main thread.
 */
public final class SignalWhenReady {
    private SignalWhenReady() {}

    public static void main(String[] arguments) {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8) {
            @Override
            public void println(String line) {
                super.println(line);
                if (line.startsWith("Ready")) {
                    terminateThisProcess();
                }
            }
        };
        int status = Main.run(List.of(arguments), out, System.err);
        System.exit(status);
    }

    /** Returns when the hook runs. Without a hook the process ends first. */
    private static void terminateThisProcess() {
        try {
            new ProcessBuilder("kill", "-TERM", Long.toString(ProcessHandle.current().pid())).start().waitFor();
        } catch (IOException | InterruptedException failed) {
            throw new IllegalStateException(failed);
        }
        while (Thread.getAllStackTraces().keySet().stream().noneMatch(t -> t.getName().equals("varve-shutdown"))) {
            Thread.onSpinWait();
        }
    }
}
