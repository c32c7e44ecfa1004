package io.varve.experiments.run.replication;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import io.varve.experiments.result.MedianRange;
import io.varve.experiments.result.RunMetrics;
import io.varve.experiments.result.table.ReplicationText;

/**
 * The measurements of one kind, by pair of servers and round. Confined to the thread that does the run.
 *
 * <p>Each measurement is a row of a CSV file as soon as it is done. A number that is not known is empty there, and does
 * not count in the medians.
 */
final class RoundResults {
    private final Path csv;
    private final Map<String, Map<String, List<Double>>> byPair = new LinkedHashMap<>();

    RoundResults(Path csv) {
        this.csv = csv;
    }

    /** @param numbers by name, always with the same names in the same order */
    void add(int round, String pair, Map<String, Double> numbers) throws IOException {
        if (numbers.isEmpty()) {
            return;
        }
        StringBuilder text = new StringBuilder();
        if (byPair.isEmpty()) {
            text.append("round,servers,").append(String.join(",", numbers.keySet())).append('\n');
        }
        text.append(round).append(',').append(pair);
        Map<String, List<Double>> all = byPair.computeIfAbsent(pair, _ -> new LinkedHashMap<>());
        numbers.forEach((name, value) -> {
            text.append(',');
            List<Double> values = all.computeIfAbsent(name, _ -> new ArrayList<>());
            if (Double.isFinite(value)) {
                text.append(value == Math.rint(value)
                        ? String.format(Locale.ROOT, "%.0f", value)
                        : String.format(Locale.ROOT, "%.4f", value));
                values.add(value);
            }
        });
        Files.writeString(csv, text.append('\n'), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    /** How many values the number of a pair with the fewest values has; 0 for a pair that was not measured. */
    int fewest(String pair) {
        return byPair.getOrDefault(pair, Map.of()).values().stream().mapToInt(List::size).min().orElse(0);
    }

    /** Stores the medians with their ranges. */
    void put(RunMetrics metrics) {
        byPair.forEach((pair, numbers) -> numbers.forEach((name, values) -> {
            if (!values.isEmpty()) {
                metrics.put(ReplicationText.name(name, pair), MedianRange.of(values));
            }
        }));
    }
}
