package io.varve.experiments.result;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The status of YCSB's client for one interval, usually a second. Immutable. A read-modify-write counts as its read and
 * its update, as everywhere here; a scan is a read.
 *
 * @param seconds time since the operations began, s
 * @param operations number of operations completed since then
 * @param calls reads and writes of the interval
 * @param reads the reads among them
 * @param misses misses among those that were filled
 * @param local replies that the simulated network before the local database delayed
 * @param remote replies that the simulated network before the remote database delayed
 */
public record ResponseTimes(long seconds, long operations, Mean calls, Mean reads, Mean misses, Mean local,
        Mean remote) {
    public static final String CSV_HEADER = "seconds,operations,calls,mean_us,reads,read_mean_us,misses,miss_mean_us,"
            + "local_delays,local_delay_us,remote_delays,remote_delay_us";
    private static final Pattern STATUS = Pattern.compile("\\S+ \\S+ (\\d+) sec: (\\d+) operations;.*");
    private static final Pattern PART = Pattern.compile("\\[([A-Z-]+): Count=(\\d+),[^\\]]*?Avg=([0-9.E]+)");
    private static final List<String> READS = List.of("READ", "READ-FAILED", "SCAN", "SCAN-FAILED");
    private static final List<String> WRITES = List.of("UPDATE", "UPDATE-FAILED", "INSERT", "INSERT-FAILED");
    private static final int MEANS = 5;

    /**
     * A number of events and their mean duration. Immutable.
     *
     * @param count 0 or more
     * @param micros mean; 0 if there were none
     */
    public record Mean(long count, double micros) {
        public static final Mean NONE = new Mean(0, 0);

        public Mean plus(Mean other) {
            long both = count + other.count;
            return both == 0 ? NONE : new Mean(both, (count * micros + other.count * other.micros) / both);
        }
    }

    /** Reads one of YCSB's status lines; empty for another line, or for an interval without operations. */
    public static Optional<ResponseTimes> of(String line) {
        Matcher status = STATUS.matcher(line);
        if (!status.matches()) {
            return Optional.empty();
        }
        Map<String, Mean> parts = new HashMap<>();
        Matcher part = PART.matcher(line);
        while (part.find()) {
            long count = Long.parseLong(part.group(2));
            if (count > 0) {
                parts.put(part.group(1), new Mean(count, Double.parseDouble(part.group(3))));
            }
        }
        Mean reads = sum(parts, READS);
        Mean calls = reads.plus(sum(parts, WRITES));
        return calls.count() == 0
                ? Optional.empty()
                : Optional.of(new ResponseTimes(Long.parseLong(status.group(1)), Long.parseLong(status.group(2)), calls,
                        reads, sum(parts, List.of("MISS-PENALTY")), sum(parts, List.of("SIMULATED-DELAY-LOCAL")),
                        sum(parts, List.of("SIMULATED-DELAY-REMOTE"))));
    }

    private static Mean sum(Map<String, Mean> parts, List<String> names) {
        Mean sum = Mean.NONE;
        for (String name : names) {
            sum = sum.plus(parts.getOrDefault(name, Mean.NONE));
        }
        return sum;
    }

    /**
     * Misses over reads of the interval, 0 to 1; NaN without reads. A miss is reported before its read, which may be an
     * interval later, so the ratio is capped at 1.
     */
    public double missRatio() {
        return reads.count() == 0 ? Double.NaN : Math.min(1, (double) misses.count() / reads.count());
    }

    /** A row of {@code response.csv}. */
    public String csv() {
        StringBuilder row = new StringBuilder().append(seconds).append(',').append(operations);
        for (Mean mean : List.of(calls, reads, misses, local, remote)) {
            row.append(String.format(Locale.ROOT, ",%d,%.2f", mean.count(), mean.micros()));
        }
        return row.toString();
    }

    /** Reads such a row. */
    public static ResponseTimes parse(String row) {
        String[] cells = row.split(",", -1);
        if (cells.length != 2 + 2 * MEANS) {
            throw new IllegalArgumentException("response.csv: a row of " + cells.length + " cells: " + row);
        }
        Mean[] means = new Mean[MEANS];
        for (int i = 0; i < MEANS; i++) {
            means[i] = new Mean(Long.parseLong(cells[2 + 2 * i]), Double.parseDouble(cells[3 + 2 * i]));
        }
        return new ResponseTimes(Long.parseLong(cells[0]), Long.parseLong(cells[1]), means[0], means[1], means[2],
                means[3], means[4]);
    }

    /**
     * The intervals in a part of the run, by the middle of their operations.
     *
     * @param from fraction of the operations, 0 to 1
     * @param to a larger fraction, up to 1
     */
    public static List<ResponseTimes> between(List<ResponseTimes> run, double from, double to) {
        long all = run.isEmpty() ? 0 : run.getLast().operations();
        List<ResponseTimes> part = new ArrayList<>();
        long before = 0;
        for (ResponseTimes each : run) {
            double midpoint = (before + each.operations()) / 2.0;
            if (midpoint >= from * all && midpoint < to * all) {
                part.add(each);
            }
            before = each.operations();
        }
        return part;
    }

    /** The sum of all calls of several intervals. */
    public static Mean calls(List<ResponseTimes> some) {
        return some.stream().map(ResponseTimes::calls).reduce(Mean.NONE, Mean::plus);
    }

    /** The sum of all reads of several intervals. */
    public static Mean reads(List<ResponseTimes> some) {
        return some.stream().map(ResponseTimes::reads).reduce(Mean.NONE, Mean::plus);
    }

    /** The sum of all misses of several intervals. */
    public static Mean misses(List<ResponseTimes> some) {
        return some.stream().map(ResponseTimes::misses).reduce(Mean.NONE, Mean::plus);
    }
}
