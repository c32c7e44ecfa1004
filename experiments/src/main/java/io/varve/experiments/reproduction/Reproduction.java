package io.varve.experiments.reproduction;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.varve.experiments.definition.InvalidExperimentException;
import io.varve.experiments.definition.YamlFile;

/**
 * All tables and figures that the project reproduces: {@code workloads/reproduction.yaml}. Immutable.
 *
 * @param papers the papers by id: author, title and place of publication
 * @param scales the scale of each experiment, by the experiment's name, then by the scale of the reproduction
 * @param artefacts the tables and figures, in the order of the report
 */
public record Reproduction(Map<String, String> papers, Map<String, Map<String, String>> scales,
        List<Artefact> artefacts) {
    /** The scales of a reproduction, the smallest first. */
    public static final List<String> SCALES = List.of("quick", "small", "paper");

    private static final String FILE = "workloads/reproduction.yaml";

    /** @throws InvalidExperimentException if the file is unusable; it names each fault */
    public static Reproduction read(Path home) throws IOException {
        Reproduction read = YamlFile.read(home.resolve(FILE), Reproduction.class);
        List<String> faults = read.faults();
        if (!faults.isEmpty()) {
            throw new InvalidExperimentException(FILE + ": " + String.join("; ", faults));
        }
        return read;
    }

    private List<String> faults() {
        List<String> faults = new ArrayList<>();
        Set<String> ids = new LinkedHashSet<>();
        for (Artefact artefact : artefacts) {
            if (!artefact.id().matches("[a-z0-9-]+/(fig|table)-[0-9]+") || !papers.containsKey(artefact.paper())) {
                faults.add("'" + artefact.id() + "': expected PAPER/fig-N or PAPER/table-N with a paper of this file");
            } else if (!ids.add(artefact.id())) {
                faults.add("'" + artefact.id() + "' is defined twice");
            }
            if (!scales.containsKey(artefact.experiment())) {
                faults.add("'" + artefact.id() + "': no scales for experiment " + artefact.experiment());
            }
            if (artefact.claims().isEmpty() && artefact.cannot() == null) {
                faults.add("'" + artefact.id() + "': expected a claim, or the reason why it cannot be shown");
            }
            artefact.claims().stream().filter(claim -> !claim.isBounded())
                    .forEach(claim -> faults.add("'" + artefact.id() + "': '" + claim.says() + "' has no limit"));
        }
        scales.forEach((experiment, names) -> {
            if (!names.keySet().containsAll(SCALES)) {
                faults.add("scales of " + experiment + ": expected " + String.join(", ", SCALES));
            }
        });
        return faults;
    }

    /** The artefacts with these ids or of these papers, in the file's order; all if there are no names. */
    public List<Artefact> named(List<String> names) {
        for (String name : names) {
            if (!papers.containsKey(name) && artefacts.stream().noneMatch(each -> each.id().equals(name))) {
                throw new InvalidExperimentException("reproduce '" + name + "': expected an id that --list prints, or "
                        + String.join(", ", papers.keySet()));
            }
        }
        return artefacts.stream()
                .filter(each -> names.isEmpty() || names.contains(each.id()) || names.contains(each.paper())).toList();
    }

    /** Artefacts by experiment, both in the file's order. */
    public static Map<String, List<Artefact>> byExperiment(List<Artefact> artefacts) {
        Map<String, List<Artefact>> result = new LinkedHashMap<>();
        artefacts.forEach(each -> result.computeIfAbsent(each.experiment(), _ -> new ArrayList<>()).add(each));
        return result;
    }

    /** The experiment's scale at a scale of the reproduction. */
    public String scale(String experiment, String scale) {
        Map<String, String> names = scales.get(experiment);
        String name = names == null ? null : names.get(scale);
        if (name == null) {
            throw new InvalidExperimentException(
                    "--scale '" + scale + "': expected " + String.join(", ", SCALES));
        }
        return name;
    }
}
