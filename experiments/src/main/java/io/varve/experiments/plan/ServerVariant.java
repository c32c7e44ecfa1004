package io.varve.experiments.plan;

import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import io.varve.experiments.definition.InvalidExperimentException;

/**
 * Other settings of a server in the throughput experiment, which alternates between the server with and without them.
 * Immutable.
 *
 * @param name the name of the server with these settings
 * @param settings values by name, as {@code CONFIG SET} takes them
 * @param baselineSettings the values of the same settings without the variant
 * @param tests the tests that measure the variant
 * @param pipelines the pipeline lengths that measure the variant
 */
public record ServerVariant(String name, Map<String, String> settings, Map<String, String> baselineSettings,
        List<String> tests,
        List<String> pipelines) {
    private static final String SETTINGS = "switched-settings";
    private static final String BASELINE_SETTINGS = "unswitched-settings";
    private static final String TESTS = "switched-tests";
    private static final String PIPELINES = "switched-pipelines";

    /**
     * Reads the variant of a workload.
     *
     * @return empty if the workload has none
     * @throws InvalidExperimentException if a property is invalid; the message states it and the allowed values
     */
    static Optional<ServerVariant> of(Map<String, String> workload) {
        if (workload.keySet().stream().noneMatch(List.of(SETTINGS, BASELINE_SETTINGS, TESTS, PIPELINES)::contains)) {
            return Optional.empty();
        }
        Map<String, String> settings = settings(workload, SETTINGS);
        Map<String, String> baselineSettings = settings(workload, BASELINE_SETTINGS);
        if (settings.isEmpty() || !settings.keySet().equals(baselineSettings.keySet())) {
            throw new InvalidExperimentException(SETTINGS + " " + settings.keySet() + ", " + BASELINE_SETTINGS + " "
                    + baselineSettings.keySet() + ": expected the same settings in both, and at least one");
        }
        settings.forEach((name, value) -> {
            if (value.equals(baselineSettings.get(name))) {
                throw new InvalidExperimentException(
                        SETTINGS + " '" + name + "=" + value + "': expected a value that differs"
                                + " from that in " + BASELINE_SETTINGS);
            }
        });
        return Optional.of(new ServerVariant(workload.getOrDefault("switched", "switched"), settings, baselineSettings,
                subset(workload, TESTS, "tests"), subset(workload, PIPELINES, "pipelines")));
    }

    private static Map<String, String> settings(Map<String, String> workload, String property) {
        Map<String, String> settings = new LinkedHashMap<>();
        for (String word : words(workload, property)) {
            int equals = word.indexOf('=');
            if (equals < 1) {
                throw new InvalidExperimentException(property + " '" + word + "': expected NAME=VALUE, separated"
                        + " by blanks");
            }
            settings.put(word.substring(0, equals), word.substring(equals + 1));
        }
        return Collections.unmodifiableMap(settings);
    }

    private static List<String> subset(Map<String, String> workload, String property, String all) {
        List<String> subset = words(workload, property);
        if (subset.isEmpty() || !words(workload, all).containsAll(subset)) {
            throw new InvalidExperimentException(
                    property + " '" + String.join(" ", subset) + "': expected one or more"
                            + " of " + all + ", " + String.join(", ", words(workload, all)));
        }
        return subset;
    }

    private static List<String> words(Map<String, String> workload, String property) {
        String text = workload.getOrDefault(property, "");
        return text.isBlank() ? List.of() : Arrays.asList(text.split(" ", -1));
    }
}
