package io.varve.experiments.server;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import redis.embedded.core.ExecutableProvider;

/** Finds a real redis-server: on PATH, else the one that embedded-redis contains (Redis 6.2). Stateless. */
final class RedisBinary {
    private RedisBinary() {}

    /** @param scratch receives the executable if it must be unpacked */
    static Path find(Path scratch) throws IOException {
        for (String directory : System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1)) {
            Path candidate = Path.of(directory.isEmpty() ? "." : directory, "redis-server");
            if (Files.isExecutable(candidate)) {
                return candidate;
            }
        }
        try {
            return ExecutableProvider.newJarResourceProvider(Files.createDirectories(scratch).toFile()).get().toPath();
        } catch (IOException | RuntimeException e) {
            throw new IOException("no redis-server on PATH, and embedded-redis has none for this system: "
                    + e.getMessage(), e);
        }
    }
}
