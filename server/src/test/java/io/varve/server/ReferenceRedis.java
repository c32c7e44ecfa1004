package io.varve.server;

import java.io.File;
import java.io.IOException;
import java.net.ServerSocket;
import java.util.concurrent.TimeUnit;

import redis.embedded.core.ExecutableProvider;

/**
 * A real redis-server of the test's own: the one on PATH, else the one that embedded-redis carries. Confined to the
 * test thread.
 *
 * <p>{@code -Dvarve.reference=embedded} takes the one that embedded-redis carries in any case.
 */
final class ReferenceRedis implements AutoCloseable {
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

    static ReferenceRedis start() throws IOException, InterruptedException {
        File onPath = System.getProperty("varve.reference", "").equals("embedded") ? null : onPath();
        String executable = onPath != null
                ? onPath.getPath()
                : ExecutableProvider.newJarResourceProvider().get().getPath();
        int port = freePort();
        ProcessBuilder builder = new ProcessBuilder(executable, "--port", Integer.toString(port), "--save", "",
                "--appendonly", "no", "--bind", "127.0.0.1", "--dir", System.getProperty("java.io.tmpdir"))
                .redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD);
        // SORT ALPHA goes by the locale.
        builder.environment().put("LC_ALL", "C");
        Process process = builder.start();
        try {
            String version = awaitVersion(process, port);
            return new ReferenceRedis(process, port, version, onPath != null ? "on PATH" : "of embedded-redis");
        } catch (IOException | RuntimeException failed) {
            process.destroyForcibly();
            throw failed;
        }
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

    /** Tries to connect until it answers, for ten seconds. */
    private static String awaitVersion(Process process, int port) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (true) {
            try (RawClient client = new RawClient(port)) {
                String info = client.call("INFO", "server").text();
                int at = info.indexOf("redis_version:") + "redis_version:".length();
                return info.substring(at, info.indexOf('\r', at));
            } catch (IOException notYet) {
                if (System.nanoTime() > deadline || process.waitFor(20, TimeUnit.MILLISECONDS)) {
                    throw new IOException("redis-server does not answer on port " + port, notYet);
                }
            }
        }
    }

    int port() {
        return port;
    }

    /** Whether its version is at least {@code major}. */
    boolean isAtLeast(int major) {
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
