package io.varve.experiments.result;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import io.varve.experiments.wire.RespValue;

/**
 * The state of a penalty class, as {@code VARVE.CLASS LIST} shows it. Immutable.
 *
 * @param number its number, from 0
 * @param range its penalties, in words
 * @param penaltyMicros mean of its misses, µs; NaN while none was measured
 * @param accesses number of accesses to its items
 * @param reads number of reads among these accesses
 * @param misses number of misses among these reads
 * @param bytes size of its items
 * @param share its share of the memory of all items, 0 to 1
 * @param suggestedShare its share by the last division; NaN before the first
 */
public record PenaltyClass(int number, String range, double penaltyMicros, long accesses, long reads, long misses,
        long bytes, double share, double suggestedShare) {
    public static final String CSV_HEADER = "elapsed_ms,operations,class,range,penalty_us,accesses,reads,misses,bytes,share,suggested_share";
    private static final int CELLS = 11;

    /**
     * Reads the reply, of either protocol.
     *
     * @throws IllegalArgumentException that names the field that is missing or malformed
     */
    public static List<PenaltyClass> parse(RespValue reply) {
        List<PenaltyClass> classes = new ArrayList<>();
        for (RespValue each : reply.values()) {
            List<RespValue> words = each.values();
            Map<String, RespValue> fields = new HashMap<>();
            for (int i = 0; i + 1 < words.size(); i += 2) {
                fields.put(words.get(i).text(), words.get(i + 1));
            }
            classes.add(new PenaltyClass((int) field(fields, "class").number(), field(fields, "range").text(),
                    field(fields, "penalty-us").number(), (long) field(fields, "accesses").number(),
                    (long) field(fields, "reads").number(), (long) field(fields, "misses").number(),
                    (long) field(fields, "bytes").number(), field(fields, "share").number(),
                    field(fields, "suggested-share").number()));
        }
        return List.copyOf(classes);
    }

    private static RespValue field(Map<String, RespValue> fields, String name) {
        RespValue value = fields.get(name);
        if (value == null) {
            throw new IllegalArgumentException(
                    "the reply to VARVE.CLASS LIST has no " + name + ", but " + fields.keySet());
        }
        return value;
    }

    /** A row of {@code classes.csv}; unknown values are empty. */
    public String csv(long elapsedMillis, long operations) {
        return String.format(Locale.ROOT, "%d,%d,%d,%s,%s,%d,%d,%d,%d,%s,%s", elapsedMillis, operations, number,
                range.replace(',', ';'), decimal(penaltyMicros), accesses, reads, misses, bytes, decimal(share),
                decimal(suggestedShare));
    }

    private static String decimal(double value) {
        return Double.isFinite(value) ? String.format(Locale.ROOT, "%.4f", value) : "";
    }

    /**
     * A class at a moment of the run.
     *
     * @param elapsedMillis time since the run's FLUSHALL, ms
     * @param operations number of operations completed by then
     * @param state the state of the class
     */
    public record At(long elapsedMillis, long operations, PenaltyClass state) {
        /** Reads a row of {@code classes.csv}. */
        public static At parse(String row) {
            String[] cells = row.split(",", -1);
            if (cells.length != CELLS) {
                throw new IllegalArgumentException("classes.csv: a row of " + cells.length + " cells: " + row);
            }
            return new At(Long.parseLong(cells[0]), Long.parseLong(cells[1]),
                    new PenaltyClass(Integer.parseInt(cells[2]), cells[3], number(cells[4]), Long.parseLong(cells[5]),
                            Long.parseLong(cells[6]), Long.parseLong(cells[7]), Long.parseLong(cells[8]),
                            number(cells[9]), number(cells[10])));
        }

        private static double number(String cell) {
            return cell.isEmpty() ? Double.NaN : Double.parseDouble(cell);
        }
    }
}
