package io.varve.experiments.result;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** Describes the measuring machine and the measured commit: the paper's Table 1 for ours. Stateless. */
public final class Machine {
    /** The key of the measured commit. */
    public static final String VERSION = "varve";

    private Machine() {}

    public static Map<String, String> describe() {
        Map<String, String> machine = new LinkedHashMap<>();
        machine.put("os", System.getProperty("os.name") + " " + System.getProperty("os.version") + " "
                + System.getProperty("os.arch"));
        firstLine(Path.of("/etc/os-release"), "PRETTY_NAME=").ifPresent(name -> machine.put("distribution", name));
        firstLine(Path.of("/proc/cpuinfo"), "model name").ifPresent(name -> machine.put("cpu", name));
        machine.put("cores", String.valueOf(Runtime.getRuntime().availableProcessors()));
        if (ManagementFactory.getOperatingSystemMXBean() instanceof com.sun.management.OperatingSystemMXBean system) {
            machine.put("memory_mib", String.valueOf(system.getTotalMemorySize() >> 20));
        }
        machine.put(VERSION, System.getProperty("varve.source", "unknown"));
        machine.put("jdk", System.getProperty("java.vm.name") + " " + Runtime.version());
        return machine;
    }

    private static Optional<String> firstLine(Path file, String prefix) {
        if (!Files.isReadable(file)) {
            return Optional.empty();
        }
        try (Stream<String> lines = Files.lines(file)) {
            return lines.filter(line -> line.startsWith(prefix))
                    .findFirst()
                    .map(line -> line.substring(prefix.length()).replaceAll("^[\\s:\"]+|\"+$", ""));
        } catch (IOException e) {
            return Optional.of("unknown (" + e.getMessage() + ")");
        }
    }
}
