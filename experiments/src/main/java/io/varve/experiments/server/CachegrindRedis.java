package io.varve.experiments.server;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Starts a redis-server under valgrind's cache simulator. Stateless. */
public final class CachegrindRedis {
    /** The simulated last-level cache: bytes, ways, bytes of a line. */
    public static final String LAST_LEVEL = "1048576,16,64";
    private static final byte[] SYMBOLS = ".symtab".getBytes(StandardCharsets.US_ASCII);

    private CachegrindRedis() {}

    /** The reason why it cannot run here; empty if it can. */
    public static Optional<String> unavailable() throws IOException {
        if (RedisBinary.onPath("valgrind").isEmpty()) {
            return Optional.of("this machine has no valgrind");
        }
        return redis().isEmpty()
                ? Optional.of("no redis-server on PATH has symbols; one built from Redis's sources has")
                : Optional.empty();
    }

    private static Optional<Path> redis() throws IOException {
        for (Path redis : RedisBinary.allOnPath("redis-server").toList()) {
            if (hasSymbols(Files.readAllBytes(redis))) {
                return Optional.of(redis);
            }
        }
        return Optional.empty();
    }

    /** Whether an executable has a table of symbols: a stripped one lacks the section's name. */
    static boolean hasSymbols(byte[] executable) {
        for (int from = 0; from + SYMBOLS.length <= executable.length; from++) {
            int i = 0;
            while (i < SYMBOLS.length && executable[from + i] == SYMBOLS[i]) {
                i++;
            }
            if (i == SYMBOLS.length) {
                return true;
            }
        }
        return false;
    }

    /**
     * @param out receives the simulator's counts when the server ends
     * @param directory receives the server's output
     */
    public static Target start(Path out, Path directory) throws IOException {
        int port = Targets.freePort();
        Path redis = redis().orElseThrow(() -> new IOException("no redis-server on PATH has symbols"));
        List<String> command = List.of("valgrind", "--tool=cachegrind", "--cache-sim=yes", "--LL=" + LAST_LEVEL,
                "--cachegrind-out-file=" + out.toAbsolutePath(), redis.toString(), "--bind", "127.0.0.1", "--port",
                String.valueOf(port), "--save", "", "--appendonly", "no", "--dir",
                directory.toAbsolutePath().toString());
        return ProcessTarget.start(command, Map.of(), port, directory.resolve("cachegrind.log"), null);
    }
}
