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
 * The alternative memory allocators that a real redis-server can use on this machine. Stateless.
 *
 * <p>A preloaded library replaces malloc if Redis takes malloc from a shared library too: from libc, or from a linked
 * libjemalloc, as in Linux distributions. A Redis that was built with its own jemalloc keeps it. A preloaded libc works
 * too: its malloc is then found before libjemalloc's.
 */
public final class Allocators {
    private static final List<List<String>> CACHES = List.of(List.of("ldconfig", "-p"),
            List.of("/sbin/ldconfig", "-p"));

    private Allocators() {}

    /** Configurations whose allocator is unavailable here, and why. */
    public static Map<String, String> missing(Map<String, Configuration> configurations) throws IOException {
        Map<String, String> missing = new LinkedHashMap<>();
        for (Map.Entry<String, Configuration> each : configurations.entrySet()) {
            String wanted = each.getValue().allocator();
            if (wanted == null) {
                continue;
            }
            if (find(wanted).isEmpty()) {
                missing.put(each.getKey(), "this machine has no " + wanted.replace(" ", " and no "));
            } else if (!isReplaceable()) {
                missing.put(each.getKey(), "this redis-server has an allocator linked in");
            }
        }
        return missing;
    }

    /** @param names names of shared libraries; the first one that is found is used */
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

    /** Searches the output of {@code ldconfig -p}; the first match is the one that the loader would use. */
    static Optional<Path> find(String cache, String name) {
        Matcher line = Pattern.compile("(?m)^\\s*" + Pattern.quote(name) + " \\([^)]*\\) => (/\\S+)$").matcher(cache);
        return line.find() ? Optional.of(Path.of(line.group(1))) : Optional.empty();
    }

    private static boolean isReplaceable() throws IOException {
        Path scratch = Files.createTempDirectory("varve-redis");
        String redis = RedisBinary.find(scratch).toString();
        return isReplaceable(printed(List.of(redis, "--version")), printed(List.of("ldd", redis)));
    }

    /** Whether a redis-server has a jemalloc of its own, which active defragmentation needs. */
    static boolean isLinkedIn(Path redis) throws IOException {
        return isLinkedIn(printed(List.of(redis.toString(), "--version")), printed(List.of("ldd", redis.toString())));
    }

    /** As {@link #isReplaceable(String, String)}. */
    static boolean isLinkedIn(String version, String libraries) {
        return version.contains("malloc=jemalloc") && !libraries.contains("libjemalloc");
    }

    /**
     * @param version output of {@code redis-server --version}
     * @param libraries output of {@code ldd} for it
     */
    static boolean isReplaceable(String version, String libraries) {
        return version.contains("malloc=libc") || libraries.contains("libjemalloc");
    }

    /** The output of a program; empty if there is no such program. */
    private static String printed(List<String> command) throws IOException {
        Process process;
        try {
            process = new ProcessBuilder(command).redirectErrorStream(true).start();
        } catch (IOException e) {
            return ""; // no such program here
        }
        process.getOutputStream().close();
        return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
}
