package io.varve.experiments.result;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import io.varve.experiments.wire.RespValue;

/**
 * A point of the miss-ratio curve of a penalty class, at a moment of the run. Immutable.
 *
 * @param elapsedMillis time since the run's FLUSHALL, ms
 * @param operations number of operations completed by then
 * @param number the number of the class
 * @param bytes a value of maxmemory, bytes
 * @param missRatio miss ratio of the class's reads with that memory, 0 to 1
 */
public record ClassCurve(long elapsedMillis, long operations, int number, long bytes, double missRatio) {
    public static final String CSV_HEADER = "elapsed_ms,operations,class,bytes,miss_ratio";
    private static final int CELLS = 5;

    /**
     * Reads the reply to {@code VARVE.MRC CLASS n}, of either protocol: pairs of bytes and a ratio; none while nothing
     * is known.
     *
     * @throws IllegalArgumentException if it is malformed
     */
    public static List<ClassCurve> parse(long elapsedMillis, long operations, int number, RespValue reply) {
        List<ClassCurve> points = new ArrayList<>();
        for (RespValue pair : reply.values()) {
            List<RespValue> both = pair.values();
            if (both.size() != 2) {
                throw new IllegalArgumentException("VARVE.MRC: expected a pair, but the point is " + pair);
            }
            points.add(new ClassCurve(elapsedMillis, operations, number, (long) both.getFirst().number(),
                    both.getLast().number()));
        }
        return List.copyOf(points);
    }

    /** A row of {@code class-curves.csv}. */
    public String csv() {
        return String.format(Locale.ROOT, "%d,%d,%d,%d,%.6f", elapsedMillis, operations, number, bytes, missRatio);
    }

    /** Reads such a row. */
    public static ClassCurve parse(String row) {
        String[] cells = row.split(",", -1);
        if (cells.length != CELLS) {
            throw new IllegalArgumentException("class-curves.csv: a row of " + cells.length + " cells: " + row);
        }
        return new ClassCurve(Long.parseLong(cells[0]), Long.parseLong(cells[1]), Integer.parseInt(cells[2]),
                Long.parseLong(cells[3]), Double.parseDouble(cells[4]));
    }
}
