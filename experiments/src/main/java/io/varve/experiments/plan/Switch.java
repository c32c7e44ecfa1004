package io.varve.experiments.plan;

import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import io.varve.experiments.definition.InvalidExperimentException;

/**
 * In the throughput experiment a server that takes turns with itself, with other settings. Immutable.
 *
 * @param name      of the server as it is set for a turn
 * @param settings  by name, as {@code CONFIG SET} takes them
 * @param undone    the same settings as they are otherwise
 * @param tests     in which it takes turns
 * @param pipelines in which it takes turns
 */
public record Switch(String name, Map<String, String> settings, Map<String, String> undone, List<String> tests,
        List<String> pipelines) {
    private static final String SETTINGS = "switched-settings";
    private static final String UNDONE = "unswitched-settings";
    private static final String TESTS = "switched-tests";
    private static final String PIPELINES = "switched-pipelines";

    /**
     * Of a workload.
     *
     * @return empty if nothing is switched there
     * @throws InvalidExperimentException that names the property and what is allowed
     */
    static Optional<Switch> of(Map<String, String> workload) {
        if (workload.keySet().stream().noneMatch(List.of(SETTINGS, UNDONE, TESTS, PIPELINES)::contains)) {
            return Optional.empty();
        }
        Map<String, String> settings = settings(workload, SETTINGS);
        Map<String, String> undone = settings(workload, UNDONE);
        if (settings.isEmpty() || !settings.keySet().equals(undone.keySet())) {
            throw new InvalidExperimentException(SETTINGS + " " + settings.keySet() + ", " + UNDONE + " "
                    + undone.keySet() + ": allowed are the same settings in both, and at least one");
        }
        settings.forEach((name, value) -> {
            if (value.equals(undone.get(name))) {
                throw new InvalidExperimentException(
                        SETTINGS + " '" + name + "=" + value + "': allowed is another value"
                                + " than in " + UNDONE);
            }
        });
        return Optional.of(new Switch(workload.getOrDefault("switched", "switched"), settings, undone,
                some(workload, TESTS, "tests"), some(workload, PIPELINES, "pipelines")));
    }

    private static Map<String, String> settings(Map<String, String> workload, String property) {
        Map<String, String> settings = new LinkedHashMap<>();
        for (String word : words(workload, property)) {
            int equals = word.indexOf('=');
            if (equals < 1) {
                throw new InvalidExperimentException(property + " '" + word + "': allowed are NAME=VALUE, with blanks"
                        + " between them");
            }
            settings.put(word.substring(0, equals), word.substring(equals + 1));
        }
        return Collections.unmodifiableMap(settings);
    }

    private static List<String> some(Map<String, String> workload, String property, String all) {
        List<String> some = words(workload, property);
        if (some.isEmpty() || !words(workload, all).containsAll(some)) {
            throw new InvalidExperimentException(
                    property + " '" + String.join(" ", some) + "': allowed are one and more"
                            + " of " + all + ", " + String.join(", ", words(workload, all)));
        }
        return some;
    }

    private static List<String> words(Map<String, String> workload, String property) {
        String text = workload.getOrDefault(property, "");
        return text.isBlank() ? List.of() : Arrays.asList(text.split(" ", -1));
    }
}
