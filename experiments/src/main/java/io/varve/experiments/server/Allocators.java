package io.varve.experiments.server;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.varve.experiments.definition.Experiment.Configuration;

/**
 * Which other allocators a real redis-server can be given on this machine. Stateless.
 *
 * <p>A library that is loaded first takes malloc's place where Redis takes malloc from a library too: from libc, or from a
 * libjemalloc that it is linked to, as in Linux distributions. One that was built with a jemalloc of its own keeps it. Of
 * libc as the library loaded first, the same holds: its malloc is then found before libjemalloc's.
 */
public final class Allocators {
    private static final List<List<String>> CACHES = List.of(List.of("ldconfig", "-p"),
            List.of("/sbin/ldconfig", "-p"));

    private Allocators() {}

    /** Configurations whose allocator cannot be had here, and why. */
    public static Map<String, String> missing(Map<String, Configuration> configurations) throws IOException {
        Map<String, String> missing = new LinkedHashMap<>();
        for (Map.Entry<String, Configuration> each : configurations.entrySet()) {
            String wanted = each.getValue().allocator();
            if (wanted == null) {
                continue;
            }
            if (find(wanted).isEmpty()) {
                missing.put(each.getKey(), "not at hand: this machine has no " + wanted.replace(" ", " and no "));
            } else if (!isReplaceable()) {
                missing.put(each.getKey(), "not possible: this redis-server carries an allocator within itself");
            }
        }
        return missing;
    }

    /** @param names of shared libraries, of which the first that is found counts */
    static Optional<Path> find(String names) throws IOException {
        String cache = "";
        for (List<String> command : CACHES) {
            cache = cache.isEmpty() ? printed(command) : cache;
        }
        for (String name : names.split(" ", -1)) {
            Optional<Path> found = find(cache, name);
            if (found.isPresent()) {
                return found;
            }
        }
        return Optional.empty();
    }

    /** In what {@code ldconfig -p} prints; the first is the one that the loader would take. */
    static Optional<Path> find(String cache, String name) {
        Matcher line = Pattern.compile("(?m)^\\s*" + Pattern.quote(name) + " \\([^)]*\\) => (/\\S+)$").matcher(cache);
        return line.find() ? Optional.of(Path.of(line.group(1))) : Optional.empty();
    }

    private static boolean isReplaceable() throws IOException {
        Path scratch = Files.createTempDirectory("varve-redis");
        String redis = RedisBinary.find(scratch).toString();
        return isReplaceable(printed(List.of(redis, "--version")), printed(List.of("ldd", redis)));
    }

    /**
     * @param version   what {@code redis-server --version} prints
     * @param libraries what {@code ldd} prints of it
     */
    static boolean isReplaceable(String version, String libraries) {
        return version.contains("malloc=libc") || libraries.contains("libjemalloc");
    }

    /** What a program prints; nothing if there is no such program. */
    private static String printed(List<String> command) throws IOException {
        Process process;
        try {
            process = new ProcessBuilder(command).redirectErrorStream(true).start();
        } catch (IOException e) {
            return ""; // no such program here: nothing is at hand
        }
        process.getOutputStream().close();
        return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
}
