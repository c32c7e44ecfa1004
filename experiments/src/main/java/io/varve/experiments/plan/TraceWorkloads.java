package io.varve.experiments.plan;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.varve.experiments.definition.Experiment;
import io.varve.experiments.definition.Experiment.Scale;
import io.varve.experiments.definition.InvalidExperimentException;
import io.varve.experiments.simulate.TraceFormat;

/**
 * Adds a workload for each trace file of the command line to an experiment. Stateless. The workload has the properties
 * of the experiment's workload {@code trace}, and the file's name.
 */
public final class TraceWorkloads {
    /** The workload with the properties of all traces. */
    private static final String TEMPLATE = "trace";

    private TraceWorkloads() {}

    /**
     * Makes the file of a trace absolute, so that a resumed experiment finds it from any folder.
     *
     * @param trace FILE or FILE:FORMAT
     * @throws InvalidExperimentException if the file cannot be read
     */
    public static String absolute(String trace) {
        Path file = Path.of(file(trace)).toAbsolutePath().normalize();
        if (!Files.isRegularFile(file) || !Files.isReadable(file)) {
            throw new InvalidExperimentException("--trace '" + trace + "': expected FILE or FILE:FORMAT, where FILE "
                    + "can be read and FORMAT is keys, spc or msr");
        }
        return file + ":" + format(trace);
    }

    /**
     * The experiment with a workload for each trace, which is part of each scale.
     *
     * @param traces FILE or FILE:FORMAT
     * @throws InvalidExperimentException if the experiment takes no traces
     */
    public static Experiment add(Experiment experiment, List<String> traces) {
        if (traces.isEmpty()) {
            return experiment;
        }
        Map<String, String> template = experiment.workloads().get(TEMPLATE);
        if (template == null) {
            throw new InvalidExperimentException("--trace '" + traces.getFirst() + "': the experiment "
                    + experiment.name() + " has no workload '" + TEMPLATE + "', so it takes no traces");
        }
        Map<String, Map<String, String>> workloads = new LinkedHashMap<>(experiment.workloads());
        List<String> names = new ArrayList<>();
        for (String trace : traces) {
            Map<String, String> properties = new LinkedHashMap<>(template);
            properties.put(SimulatedLoad.TRACE, file(trace));
            properties.put(SimulatedLoad.FORMAT, format(trace));
            String name = name(file(trace));
            for (int number = 2; workloads.containsKey(name); number++) {
                name = name(file(trace)) + "-" + number;
            }
            workloads.put(name, properties);
            names.add(name);
        }
        Map<String, Scale> scales = new LinkedHashMap<>();
        experiment.scales().forEach((name, scale) -> scales.put(name, with(scale, names)));
        return new Experiment(experiment.name(), experiment.title(), experiment.question(), experiment.kind(),
                experiment.defaultScale(), experiment.maxmemory(), experiment.recordBytes(), experiment.seed(),
                workloads, experiment.sizes(), experiment.configurations(), experiment.baselines(), scales,
                experiment.figures(), experiment.notes(), experiment.includes());
    }

    /** The file's name without its suffixes, such as {@code web07} for {@code web07.txt.xz}. */
    private static String name(String file) {
        Path last = Path.of(file).getFileName();
        String name = (last == null ? file : last.toString()).replaceAll("[^A-Za-z0-9._-]", "-");
        return name.replaceAll("(?<=.)(\\.(txt|csv|trace|spc|keys|gz|xz|zst))+$", "");
    }

    private static String file(String trace) {
        return hasFormat(trace) ? trace.substring(0, trace.lastIndexOf(':')) : trace;
    }

    private static String format(String trace) {
        return hasFormat(trace) ? trace.substring(trace.lastIndexOf(':') + 1) : "keys";
    }

    private static boolean hasFormat(String trace) {
        String end = trace.substring(trace.lastIndexOf(':') + 1);
        return trace.contains(":") && TraceFormat.names().contains(end);
    }

    /** The scale with these workloads too; if it has parts, they are in the last one. */
    private static Scale with(Scale scale, List<String> names) {
        List<String> workloads = new ArrayList<>(scale.workloads());
        workloads.addAll(names);
        List<Scale> parts = scale.parts();
        if (parts != null) {
            parts = new ArrayList<>(parts);
            parts.set(parts.size() - 1, with(parts.getLast(), names));
        }
        return new Scale(scale.about(), scale.embedded(), scale.maxmemory(), List.copyOf(workloads), scale.sizes(),
                scale.ttls(), scale.threads(), scale.configurations(), parts);
    }
}
