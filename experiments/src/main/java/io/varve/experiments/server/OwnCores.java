package io.varve.experiments.server;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Pins this process to the load's cores while it is the generator itself, so that none of its threads, the compiler's
 * included, takes the server's time. Confined to the thread that opens and closes it.
 */
public final class OwnCores implements AutoCloseable {
    private static final Path STATUS = Path.of("/proc/self/status");
    private static final String ALLOWED = "Cpus_allowed_list:";

    private final String before;

    private OwnCores(String before) {
        this.before = before;
    }

    /** @param cores the cores in taskset's list syntax; empty for no change */
    public static OwnCores take(String cores) throws IOException {
        if (cores.isEmpty()) {
            return new OwnCores("");
        }
        OwnCores taken = new OwnCores(allowed(Files.readString(STATUS)));
        set(cores);
        return taken;
    }

    static String allowed(String status) {
        return status.lines().filter(line -> line.startsWith(ALLOWED)).findFirst()
                .map(line -> line.substring(ALLOWED.length()).strip())
                .orElseThrow(() -> new IllegalArgumentException(STATUS + ": no " + ALLOWED));
    }

    private static void set(String cores) throws IOException {
        Process process = new ProcessBuilder(
                List.of("taskset", "-a", "-c", "-p", cores, String.valueOf(ProcessHandle.current().pid())))
                .redirectErrorStream(true).start();
        process.getOutputStream().close();
        String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        try {
            if (process.waitFor() != 0) {
                throw new IOException("taskset: " + printed.strip());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while the generator was pinned to its core", e);
        }
    }

    @Override
    public void close() throws IOException {
        if (!before.isEmpty()) {
            set(before);
        }
    }
}
