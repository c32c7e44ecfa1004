package io.varve.server.testing;

import java.io.File;
import java.io.IOException;
import java.net.ServerSocket;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.varve.testing.Polling;
import redis.embedded.core.ExecutableProvider;

/**
 * A real redis-server of the test: the one on PATH, else the one that embedded-redis contains. Confined to the test's
 * thread.
 *
 * <p>{@code -Dvarve.reference=embedded} always uses the one that embedded-redis contains.
 */
public final class ReferenceRedis implements AutoCloseable {
    /** Another process may take a free port before Redis has it. */
    private static final int TRIES = 5;

    private final Process process;
    private final int port;
    private final String version;
    private final String origin;

    private ReferenceRedis(Process process, int port, String version, String origin) {
        this.process = process;
        this.port = port;
        this.version = version;
        this.origin = origin;
    }

    public static ReferenceRedis start() throws IOException, InterruptedException {
        return startWith();
    }

    /** @param options more command-line options */
    public static ReferenceRedis startWith(String... options) throws IOException, InterruptedException {
        File onPath = System.getProperty("varve.reference", "").equals("embedded") ? null : onPath();
        String executable = onPath != null
                ? onPath.getPath()
                : ExecutableProvider.newJarResourceProvider().get().getPath();
        String origin = onPath != null ? "on PATH" : "of embedded-redis";
        for (int tries = 1;; tries++) {
            int port = freePort();
            Process process = start(executable, port, options);
            try {
                return new ReferenceRedis(process, port, awaitVersion(process, port), origin);
            } catch (IOException | RuntimeException failed) {
                process.destroyForcibly();
                if (tries == TRIES) {
                    throw failed;
                }
            }
        }
    }

    private static Process start(String executable, int port, String... options) throws IOException {
        // A file of its own: Redis would load the dump.rdb that a test of SAVE or another process has left.
        File dump = new File(System.getProperty("java.io.tmpdir"),
                "varve-" + ProcessHandle.current().pid() + "-" + port + ".rdb");
        dump.deleteOnExit();
        ProcessBuilder builder = new ProcessBuilder(executable, "--port", Integer.toString(port), "--save", "",
                "--appendonly", "no", "--bind", "127.0.0.1", "--dir", dump.getParent(), "--dbfilename", dump.getName())
                .redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD);
        builder.command().addAll(List.of(options));
        // SORT ALPHA goes by the locale.
        builder.environment().put("LC_ALL", "C");
        return builder.start();
    }

    private static @org.jspecify.annotations.Nullable File onPath() {
        for (String directory : System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1)) {
            File file = new File(directory, "redis-server");
            if (file.canExecute()) {
                return file;
            }
        }
        return null;
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    /** Connects repeatedly, for ten seconds, until this process answers, and not another one on its port. */
    private static String awaitVersion(Process process, int port) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (true) {
            try (RawClient client = new RawClient(port)) {
                String info = client.call("INFO", "server").text();
                if (field(info, "process_id").equals(Long.toString(process.pid()))) {
                    while (client.command("PING").startsWith("-LOADING")) {
                        // DEBUG DIGEST would answer for what is loaded so far.
                        Polling.pause();
                    }
                    return field(info, "redis_version");
                }
                throw new IOException("Another process has port " + port);
            } catch (IOException notYet) {
                if (System.nanoTime() > deadline || process.waitFor(20, TimeUnit.MILLISECONDS)) {
                    throw new IOException("redis-server does not answer on port " + port, notYet);
                }
            }
        }
    }

    private static String field(String info, String name) {
        int at = info.indexOf(name + ":") + name.length() + 1;
        return info.substring(at, info.indexOf('\r', at));
    }

    public int port() {
        return port;
    }

    /** Whether its version is at least {@code major}. */
    public boolean isAtLeast(int major) {
        return Integer.parseInt(version.substring(0, version.indexOf('.'))) >= major;
    }

    @Override
    public String toString() {
        return "redis-server " + version + " " + origin;
    }

    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(5, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException interrupted) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
