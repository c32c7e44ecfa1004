package io.varve.experiments.plan;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

import io.varve.experiments.definition.Experiment;
import io.varve.experiments.definition.InvalidExperimentException;

/**
 * The properties of a workload of the penalty experiment, beside YCSB's own. Immutable.
 *
 * @param share maxmemory of the other servers, as a share of the final size without eviction; above 0, up to 1
 * @param windows minimum number of windows into which a run's operations are divided ({@code mrc-window}); a window is
 *     no longer than the paper's
 * @param stress share of the operations after which the remote delay is doubled; NaN for never
 * @param aims required reduction of the mean response time in percent, by the name of the other configuration
 * @param client YCSB's and its binding's properties
 */
public record PenaltyLoad(double share, int windows, double stress, Map<String, Double> aims,
        Map<String, String> client) {
    private static final String SHARE = "memory-share";
    private static final String WINDOWS = "windows";
    private static final String STRESS = "stress-at";
    private static final String AIMS = "aims";
    private static final Set<String> OWN = Set.of(SHARE, WINDOWS, STRESS, AIMS, Experiment.FILE, Experiment.KIND,
            "maxmemory");
    /** The paper's window, and the server's default. */
    private static final long USUAL_WINDOW = 1_000_000;
    /** The server's minimum. */
    private static final long MIN_WINDOW = 10_000;

    /** @throws InvalidExperimentException if a property is missing or invalid */
    static PenaltyLoad of(String name, Map<String, String> workload) {
        try {
            double share = Double.parseDouble(workload.getOrDefault(SHARE, "0.5"));
            double stress = Double.parseDouble(workload.getOrDefault(STRESS, "NaN"));
            int windows = Integer.parseInt(workload.getOrDefault(WINDOWS, "20"));
            if (!(share > 0 && share <= 1) || stress < 0 || stress >= 1 || windows < 1) {
                throw new InvalidExperimentException("workload " + name + ": expected a " + SHARE
                        + " above 0 and up to 1, " + WINDOWS + " from 1 on, a " + STRESS + " from 0 to below 1");
            }
            Map<String, String> client = new LinkedHashMap<>(workload);
            client.keySet().removeAll(OWN);
            return new PenaltyLoad(share, windows, stress, aims(workload.getOrDefault(AIMS, "")), Map.copyOf(client));
        } catch (NumberFormatException e) {
            throw new InvalidExperimentException("workload " + name + ": " + e.getMessage() + " where a number is due",
                    e);
        }
    }

    private static Map<String, Double> aims(String text) {
        Map<String, Double> aims = new LinkedHashMap<>();
        if (!text.isBlank()) {
            String[] words = text.strip().split("\\s+", -1);
            for (int i = 0; i < words.length; i += 2) {
                aims.put(words[i], Double.parseDouble(i + 1 < words.length ? words[i + 1] : ""));
            }
        }
        return aims;
    }

    /** Number of accesses between two divisions of memory, in a run of this many operations. */
    public long window(long operations) {
        return Math.clamp(operations / windows, MIN_WINDOW, USUAL_WINDOW);
    }
}
