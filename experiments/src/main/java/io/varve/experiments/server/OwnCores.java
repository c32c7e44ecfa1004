package io.varve.experiments.server;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Keeps this process on the load's cores for a while, where it is the generator itself: so that none of its threads, the
 * compiler's included, takes the server's time. Opened and closed by one thread.
 */
public final class OwnCores implements AutoCloseable {
    private static final Path STATUS = Path.of("/proc/self/status");
    private static final String ALLOWED = "Cpus_allowed_list:";

    private final String before;

    private OwnCores(String before) {
        this.before = before;
    }

    /** @param cores in taskset's list syntax; empty for leaving things as they are */
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
            throw new IOException("interrupted while the generator's core was set", e);
        }
    }

    @Override
    public void close() throws IOException {
        if (!before.isEmpty()) {
            set(before);
        }
    }
}
