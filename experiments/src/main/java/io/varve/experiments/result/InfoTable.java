package io.varve.experiments.result;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The numbers of INFO over time: {@code info.csv}. Immutable.
 *
 * @param fields the columns after the time, by the names of INFO
 * @param rows a row per sample: ms since the run's FLUSHALL, then a number per field; NaN if the server reported none
 */
public record InfoTable(List<String> fields, List<List<Double>> rows) {
    /** The first column. */
    public static final String ELAPSED = "elapsed_ms";

    /** @param lines the lines of the file, the header first; none if it does not exist */
    public static InfoTable parse(List<String> lines) {
        if (lines.isEmpty()) {
            return new InfoTable(List.of(), List.of());
        }
        List<String> head = Arrays.asList(lines.getFirst().split(",", -1));
        List<List<Double>> rows = new ArrayList<>();
        for (String line : lines.subList(1, lines.size())) {
            List<Double> row = new ArrayList<>();
            for (String cell : line.split(",", -1)) {
                row.add(cell.isEmpty() ? Double.NaN : Double.parseDouble(cell));
            }
            rows.add(List.copyOf(row));
        }
        return new InfoTable(List.copyOf(head.subList(1, head.size())), List.copyOf(rows));
    }
}
