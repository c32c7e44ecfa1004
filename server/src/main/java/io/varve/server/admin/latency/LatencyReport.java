package io.varve.server.admin.latency;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import io.varve.server.config.Decimals;

/** Formats latency spikes for LATENCY GRAPH and LATENCY DOCTOR. Immutable: static methods only. */
public final class LatencyReport {
    /** Number of rows of a graph; each is divided into as many steps as there are tops. */
    private static final int ROWS = 4;
    private static final String TOPS = "_o#";
    private static final int COLUMNS = 80;
    private static final long MINUTE = 60;
    private static final long HOUR = 60 * MINUTE;
    private static final long DAY = 24 * HOUR;
    private static final double MILLIS_PER_SECOND = 1000;
    private static final long MICROS_PER_MILLI = 1000;

    private LatencyReport() {}

    // --- GRAPH

    /**
     * Draws one column for each spike, the oldest first: its height between the lowest and the highest, and below it,
     * from top to bottom, its age.
     */
    public static String graph(LatencyMonitor.Event event, long nowSeconds) {
        List<LatencyMonitor.Sample> samples = event.history();
        long high = samples.stream().mapToLong(LatencyMonitor.Sample::millis).max().orElse(0);
        long low = samples.stream().mapToLong(LatencyMonitor.Sample::millis).min().orElse(0);
        StringBuilder text = new StringBuilder(event.name()).append(" - high ").append(high).append(" ms, low ")
                .append(low).append(" ms (all time high ").append(event.maxMillis()).append(" ms)\n")
                .append("-".repeat(COLUMNS)).append('\n');
        for (int from = 0; from < samples.size(); from += COLUMNS) {
            draw(text, samples.subList(from, Math.min(samples.size(), from + COLUMNS)), low, high, nowSeconds);
        }
        return text.toString();
    }

    private static void draw(StringBuilder text, List<LatencyMonitor.Sample> samples, long low, long high,
            long nowSeconds) {
        int steps = ROWS * TOPS.length();
        long range = Math.max(1, high - low);
        for (int row = ROWS - 1; row >= 0; row--) {
            for (LatencyMonitor.Sample sample : samples) {
                int height = (int) ((sample.millis() - low) * (steps - 1) / range);
                int top = height / TOPS.length();
                text.append(row > top ? ' ' : row < top ? '|' : TOPS.charAt(height % TOPS.length()));
            }
            text.append('\n');
        }
        text.append('\n');
        List<String> ages = new ArrayList<>();
        samples.forEach(sample -> ages.add(age(nowSeconds - sample.unixSeconds())));
        int longest = ages.stream().mapToInt(String::length).max().orElse(0);
        for (int line = 0; line < longest; line++) {
            for (String age : ages) {
                text.append(line < age.length() ? age.charAt(line) : ' ');
            }
            text.append('\n');
        }
    }

    private static String age(long seconds) {
        long past = Math.max(0, seconds);
        if (past < MINUTE) {
            return past + "s";
        }
        if (past < HOUR) {
            return past / MINUTE + "m";
        }
        return past < DAY ? past / HOUR + "h" : past / DAY + "d";
    }

    // --- DOCTOR

    /**
     * Describes the observations and suggests the next steps.
     *
     * @param thresholdMillis {@code latency-monitor-threshold}
     * @param slowlogMicros {@code slowlog-log-slower-than}
     * @param hiccupMicros the longest stall of the process
     */
    public static String diagnosis(List<LatencyMonitor.Event> events, long thresholdMillis, long slowlogMicros,
            long hiccupMicros, long nowSeconds) {
        if (thresholdMillis == 0) {
            return "Latency is not monitored. Enable it with CONFIG SET latency-monitor-threshold MILLISECONDS:"
                    + " the server then"
                    + " records each command that takes at least this long.\n";
        }
        if (events.isEmpty()) {
            return "No latency spike of " + thresholdMillis
                    + " ms or more was observed since the monitor was enabled or"
                    + " reset.\n";
        }
        StringBuilder text = new StringBuilder("Latency spikes of ").append(thresholdMillis)
                .append(" ms or more were observed:\n\n");
        int number = 0;
        for (LatencyMonitor.Event event : events) {
            number++;
            text.append(number).append(". ").append(line(event, nowSeconds)).append('\n');
        }
        text.append("\nAdvice:\n\n");
        for (String advice : advice(events, thresholdMillis, slowlogMicros, hiccupMicros)) {
            text.append(" * ").append(advice).append('\n');
        }
        return text.toString();
    }

    private static String line(LatencyMonitor.Event event, long nowSeconds) {
        List<LatencyMonitor.Sample> samples = event.history();
        double mean = samples.stream().mapToLong(LatencyMonitor.Sample::millis).average().orElse(0);
        double deviation = samples.stream().mapToDouble(sample -> Math.abs(sample.millis() - mean)).average().orElse(0);
        double period = (double) Math.max(0, nowSeconds - samples.getFirst().unixSeconds()) / samples.size();
        return String.format(Locale.ROOT, "%s: %d latency spikes (average %dms, mean deviation %dms, period %s sec)."
                + " Worst all time event %dms.", event.name(), samples.size(), Math.round(mean), Math.round(deviation),
                Decimals.of(period, 2), event.maxMillis());
    }

    private static List<String> advice(List<LatencyMonitor.Event> events, long thresholdMillis, long slowlogMicros,
            long hiccupMicros) {
        List<String> advice = new ArrayList<>();
        long targetMicros = thresholdMillis * MICROS_PER_MILLI;
        boolean slow = events.stream().anyMatch(event -> event.name().equals("command"));
        boolean fast = events.stream().anyMatch(event -> event.name().equals("fast-command"));
        if (slowlogMicros < 0 || slowlogMicros > targetMicros) {
            advice.add(
                    "The slow log does not record these commands. To record them: CONFIG SET slowlog-log-slower-than "
                            + targetMicros + ".");
        } else {
            advice.add("SLOWLOG GET lists the slow commands.");
        }
        if (slow) {
            advice.add(
                    "Commands on many elements or keys (KEYS, HGETALL, large ranges) take time in proportion to their"
                            + " number. SCAN, HSCAN, SSCAN and ZSCAN do the work in parts.");
        }
        if (fast) {
            advice.add("Commands that usually take little time were slow, so something else stalled the process. The"
                    + " longest stall is " + Decimals.of(hiccupMicros / MILLIS_PER_SECOND, 2)
                    + " ms (hiccup_max_us in INFO varve). Run redis-cli --intrinsic-latency 60 on this machine to"
                    + " measure"
                    + " the machine's own stalls.");
        }
        return advice;
    }
}
