package io.varve.experiments.run.ycsb;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Parses YCSB's output, line by line. Guarded by {@code this}: the process's reader adds lines, other threads query.
 *
 * <p>YCSB 0.17's client exits with status 0 even when its threads died, so a run is judged by its return counts.
 */
public final class YcsbOutput {
    private static final Pattern STATUS = Pattern.compile(
            "\\S+ \\S+ (\\d+) sec: (\\d+) operations;(?: ([0-9.E]+) current ops/sec;)?.*");
    private static final Pattern RETURN = Pattern.compile("\\[([A-Z-]+)], Return=(\\w+), (\\d+)");
    private static final Pattern NUMBER = Pattern.compile("\\[([A-Z-]+)], ([^,]+), (-?[0-9.E]+)");

    private final Map<String, Long> returns = new LinkedHashMap<>();
    private final Map<String, Double> numbers = new LinkedHashMap<>();
    private long operations;
    private double currentRate;

    /** @return whether it was a status line */
    public synchronized boolean add(String line) {
        Matcher status = STATUS.matcher(line);
        if (status.matches()) {
            operations = Long.parseLong(status.group(2));
            currentRate = status.group(3) == null ? 0 : Double.parseDouble(status.group(3));
            return true;
        }
        Matcher returned = RETURN.matcher(line);
        if (returned.matches()) {
            returns.merge(returned.group(1) + "=" + returned.group(2), Long.parseLong(returned.group(3)), Long::sum);
            return false;
        }
        Matcher number = NUMBER.matcher(line);
        if (number.matches()) {
            numbers.put(number.group(1) + " " + number.group(2), Double.parseDouble(number.group(3)));
        }
        return false;
    }

    /** Number of completed operations in the last status line. */
    public synchronized long operations() {
        return operations;
    }

    /** Operations a second in the last status line. */
    public synchronized double currentRate() {
        return currentRate;
    }

    /** Number of results by operation and status, such as {@code READ=OK}. */
    synchronized Map<String, Long> returns() {
        return Map.copyOf(returns);
    }

    /** A number of the summary, such as {@code OVERALL Throughput(ops/sec)}; NaN if it was not printed. */
    public synchronized double number(String name) {
        return numbers.getOrDefault(name, Double.NaN);
    }

    /** Results that are failures: everything except OK, and a read without a record, which expiry causes. */
    public synchronized Map<String, Long> badReturns() {
        Map<String, Long> bad = new LinkedHashMap<>();
        returns.forEach((name, count) -> {
            if (!name.endsWith("=OK") && !name.equals("READ=NOT_FOUND")) {
                bad.put(name, count);
            }
        });
        return bad;
    }
}
