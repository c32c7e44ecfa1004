package io.varve.experiments.definition;

import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.stream.Stream;

import io.varve.server.config.ByteOrderMark;

/**
 * Reads {@code workloads/experiments/*.yaml}. Immutable.
 *
 * <p>A name that the file uses and does not define, or an unknown property, is an error that names both.
 */
public final class ExperimentFiles {
    private static final String PROPERTIES = ".properties";

    private final Path directory;

    public ExperimentFiles(Path directory) {
        this.directory = directory;
    }

    /** Names of all experiments, sorted. */
    public List<String> names() throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(file -> file.endsWith(".yaml"))
                    .map(file -> file.substring(0, file.length() - ".yaml".length()))
                    .sorted()
                    .toList();
        }
    }

    /** @throws InvalidExperimentException if there is no experiment of that name, or its file is unusable */
    public Experiment read(String name) throws IOException {
        Path file = directory.resolve(name + ".yaml");
        if (!name.matches("[A-Za-z0-9._-]+") || !Files.isRegularFile(file)) {
            throw new InvalidExperimentException(
                    "experiment '" + name + "': expected " + String.join(", ", names()));
        }
        Experiment experiment = included(filled(YamlFile.read(file, Experiment.class)));
        List<String> faults = faults(experiment);
        if (!faults.isEmpty()) {
            throw new InvalidExperimentException(file + ": " + String.join("; ", faults));
        }
        return experiment;
    }

    /** Adds the properties of the files that its workloads name; a workload's own properties take precedence. */
    private Experiment filled(Experiment experiment) throws IOException {
        if (experiment.workloads().values().stream().noneMatch(each -> each.containsKey(Experiment.FILE))) {
            return experiment;
        }
        Map<String, Map<String, String>> workloads = new LinkedHashMap<>();
        for (Map.Entry<String, Map<String, String>> workload : experiment.workloads().entrySet()) {
            String name = workload.getValue().get(Experiment.FILE);
            Map<String, String> whole = name == null ? new LinkedHashMap<>() : properties(experiment, name);
            whole.putAll(workload.getValue());
            workloads.put(workload.getKey(), whole);
        }
        return new Experiment(experiment.name(), experiment.title(), experiment.question(), experiment.kind(),
                experiment.defaultScale(), experiment.maxmemory(), experiment.recordBytes(), experiment.seed(),
                workloads, experiment.sizes(), experiment.configurations(), experiment.baselines(),
                experiment.scales(), experiment.figures(), experiment.notes(), experiment.includes());
    }

    private Map<String, String> properties(Experiment experiment, String name) throws IOException {
        Path file = directory.resolveSibling(name + PROPERTIES);
        if (!name.matches("[A-Za-z0-9._-]+") || !Files.isRegularFile(file)) {
            throw new InvalidExperimentException(
                    "experiment " + experiment.name() + ": there is no workload file '" + name
                            + "': expected the name of a file in " + file.getParent() + " without "
                            + PROPERTIES);
        }
        Properties read = new Properties();
        try (Reader in = new InputStreamReader(ByteOrderMark.skip(Files.newInputStream(file)),
                StandardCharsets.UTF_8)) {
            read.load(in);
        }
        Map<String, String> sorted = new TreeMap<>();
        read.stringPropertyNames().forEach(key -> sorted.put(key, read.getProperty(key)));
        return new LinkedHashMap<>(sorted);
    }

    /** Adds the included experiments: each of their workloads states its kind. */
    private Experiment included(Experiment experiment) throws IOException {
        List<String> includes = experiment.includes();
        if (includes == null) {
            return experiment;
        }
        var workloads = new LinkedHashMap<>(experiment.workloads());
        var sizes = new LinkedHashMap<>(experiment.sizes());
        var configurations = new LinkedHashMap<>(experiment.configurations());
        List<String> notes = new ArrayList<>(experiment.notes() == null ? List.of() : experiment.notes());
        for (String name : includes) {
            Experiment other = read(name);
            if (other.includes() != null) {
                throw new InvalidExperimentException(
                        experiment.name() + " includes " + name + ", which includes others: expected one level");
            }
            other.workloads().forEach((workload, properties) -> {
                Map<String, String> ofKind = new LinkedHashMap<>(properties);
                ofKind.put(Experiment.KIND, other.kind().name());
                add(workloads, workload, ofKind, experiment.name(), name);
            });
            other.sizes().forEach((size, value) -> add(sizes, size, value, experiment.name(), name));
            other.configurations().forEach((each, value) -> add(configurations, each, value, experiment.name(), name));
            if (other.notes() != null) {
                other.notes().forEach(note -> notes.add(name + ": " + note));
            }
        }
        return new Experiment(experiment.name(), experiment.title(), experiment.question(), experiment.kind(),
                experiment.defaultScale(), experiment.maxmemory(), experiment.recordBytes(), experiment.seed(),
                workloads, sizes, configurations, experiment.baselines(), experiment.scales(), experiment.figures(),
                List.copyOf(notes), includes);
    }

    private static <T> void add(Map<String, T> all, String name, T value, String to, String from) {
        if (all.putIfAbsent(name, value) != null) {
            throw new InvalidExperimentException("experiment " + to + ": '" + name + "' of " + from
                    + " is already defined: expected another name");
        }
    }

    private static List<String> faults(Experiment experiment) {
        List<String> faults = new ArrayList<>();
        experiment.scales().forEach((name, scale) -> {
            unknown(faults, name, "workload", scale.workloads(), experiment.workloads().keySet());
            unknown(faults, name, "size", scale.sizes(), experiment.sizes().keySet());
            unknown(faults, name, "configuration", scale.configurations(), experiment.configurations().keySet());
        });
        if (!experiment.scales().containsKey(experiment.defaultScale())) {
            faults.add("default-scale '" + experiment.defaultScale() + "' is not defined");
        }
        return faults;
    }

    private static void unknown(List<String> faults, String scale, String kind, List<String> used,
            java.util.Set<String> defined) {
        for (String name : used) {
            if (!defined.contains(name)) {
                faults.add("scale " + scale + " uses the " + kind + " '" + name + "', which is not defined");
            }
        }
    }
}
