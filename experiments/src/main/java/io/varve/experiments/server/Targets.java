package io.varve.experiments.server;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

import io.varve.experiments.definition.Experiment.Configuration;
import io.varve.experiments.definition.Experiment.Server;

/**
 * Starts the servers under test. Immutable.
 */
public final class Targets {
    private static final String PAUSES_LOG = "pauses.log";
    private static final String JAVA_OPTIONS = "VARVE_JAVA_OPTS";

    /** A placeholder in a setting: the folder of the run. */
    private static final String FOLDER = "{folder}";

    private final Path home;

    /**
     * Configurations whose server this machine does not have, and why. A missing baseline is no reason to leave it out:
     * nothing can be compared without it.
     */
    public static Map<String, String> missing(Map<String, Configuration> configurations, List<String> baselines)
            throws IOException {
        Map<String, String> missing = new LinkedHashMap<>();
        for (Map.Entry<String, Configuration> each : configurations.entrySet()) {
            Configuration configuration = each.getValue();
            if (configuration.server() == Server.VALKEY && !baselines.contains(each.getKey())
                    && !RedisBinary.hasValkey()) {
                missing.put(each.getKey(), "no valkey-server is on PATH");
            } else if (configuration.server() == Server.REDIS && defragments(configuration)
                    && RedisBinary.findDefragmenting().isEmpty()) {
                missing.put(each.getKey(), "no redis-server on PATH has its own jemalloc, which active defragmentation"
                        + " needs; one built from Redis's sources has");
            }
        }
        return missing;
    }

    private static boolean defragments(Configuration configuration) {
        return "yes".equals(configuration.settings().get("activedefrag"));
    }

    /** @param home the repository's root, with the launcher */
    public Targets(Path home) {
        this.home = home;
    }

    /**
     * Starts a server, or connects to a running one.
     *
     * @param embedded whether Varve runs inside this process
     * @param maxmemory the limit of each server, in redis.conf syntax
     * @param cores the cores to pin it to, in taskset's syntax; empty for none
     * @param directory receives its output
     * @param pauses whether a JVM logs its pauses there
     */
    public Target open(Configuration configuration, boolean embedded, String maxmemory, String cores, Path directory,
            boolean pauses) throws IOException {
        Integer primaries = configuration.primaries();
        return primaries == null
                ? openOne(configuration, embedded, maxmemory, cores, directory, pauses)
                : DividedTarget.start(primaries, directory,
                        inside -> openOne(configuration, false, maxmemory, cores, inside, pauses));
    }

    private Target openOne(Configuration configuration, boolean embedded, String maxmemory, String cores,
            Path directory, boolean pauses) throws IOException {
        return switch (configuration.server()) {
            case VARVE -> embedded
                    ? EmbeddedTarget.start(settings(configuration, directory), maxmemory)
                    : serve(configuration, maxmemory, cores, directory, pauses);
            case REDIS, VALKEY -> redis(configuration, maxmemory, cores, directory);
            case REMOTE -> {
                int colon = configuration.group().lastIndexOf(':');
                yield new RemoteTarget(configuration.group().substring(0, colon),
                        Integer.parseInt(configuration.group().substring(colon + 1)));
            }
        };
    }

    private Target serve(Configuration configuration, String maxmemory, String cores, Path directory, boolean pauses)
            throws IOException {
        int port = freePort();
        String launcher = System.getProperty("varve.executable", home.resolve("varve").toString());
        List<String> command = new ArrayList<>(List.of(launcher, "serve", "--bind", "127.0.0.1", "--port",
                String.valueOf(port), "--maxmemory", maxmemory));
        addSettings(command, settings(configuration, directory));
        List<String> options = new ArrayList<>();
        options.add(System.getenv().getOrDefault(JAVA_OPTIONS, ""));
        if (configuration.jvm() != null) {
            options.add(configuration.jvm());
        }
        Path pauseLog = pauses ? directory.resolve(PAUSES_LOG) : null;
        if (pauseLog != null) {
            options.add(PauseLog.options(PAUSES_LOG));
        }
        // The measured build is that of the experiment's begin: no build between two runs.
        return ProcessTarget.start(Pinning.command(cores, command),
                Map.of("VARVE_NO_BUILD", "1", JAVA_OPTIONS, String.join(" ", options).strip()), port,
                directory.resolve("server.log"), pauseLog);
    }

    /**
     * Starts a proxy in front of servers that have the slots in their order.
     *
     * @param windowMillis its merge window
     * @param cores the cores to pin it to, in taskset's syntax; empty for none
     * @param directory receives its output
     */
    public Target proxy(List<Target> members, int windowMillis, String cores, Path directory) throws IOException {
        int port = freePort();
        String launcher = System.getProperty("varve.executable", home.resolve("varve").toString());
        List<String> command = List.of(launcher, "proxy", "--port", String.valueOf(port), "--member-kind", "plain",
                "--members", members.stream().map(member -> member.host() + ":" + member.port())
                        .collect(Collectors.joining(",")),
                "--merge-window-ms", String.valueOf(windowMillis), "--io-threads", "1");
        return ProcessTarget.start(Pinning.command(cores, command), Map.of("VARVE_NO_BUILD", "1"), port,
                directory.resolve("proxy.log"), null);
    }

    /** Starts Redis or Valkey: their settings are the same. */
    private static Target redis(Configuration configuration, String maxmemory, String cores, Path directory)
            throws IOException {
        int port = freePort();
        Path scratch = Files.createTempDirectory("varve-redis");
        List<String> command = new ArrayList<>();
        if (configuration.allocator() != null) {
            command.add("env");
            command.add("LD_PRELOAD=" + Allocators.find(configuration.allocator()).orElseThrow(
                    () -> new IOException("this machine has no " + configuration.allocator())));
        }
        command.addAll(List.of(executable(configuration, scratch).toString(), "--bind", "127.0.0.1",
                "--port", String.valueOf(port), "--maxmemory", maxmemory, "--maxmemory-policy", "noeviction",
                "--save", "", "--appendonly", "no", "--daemonize", "no", "--dir", scratch.toString()));
        addSettings(command, settings(configuration, directory));
        return ProcessTarget.start(Pinning.command(cores, command), Map.of(), port, directory.resolve("server.log"),
                null);
    }

    private static Path executable(Configuration configuration, Path scratch) throws IOException {
        if (configuration.server() == Server.VALKEY) {
            return RedisBinary.findValkey();
        }
        Optional<Path> defragmenting = defragments(configuration)
                ? RedisBinary.findDefragmenting()
                : Optional.empty();
        return defragmenting.isPresent() ? defragmenting.get() : RedisBinary.find(scratch);
    }

    /** The configuration's settings, with the run's folder inserted. */
    private static Map<String, String> settings(Configuration configuration, Path directory) {
        Map<String, String> settings = new LinkedHashMap<>();
        configuration.settings()
                .forEach((name, value) -> settings.put(name,
                        value.replace(FOLDER, directory.toAbsolutePath().toString())));
        return settings;
    }

    private static void addSettings(List<String> command, Map<String, String> settings) {
        settings.forEach((name, value) -> {
            command.add("--" + name);
            command.add(value);
        });
    }

    static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }
}
