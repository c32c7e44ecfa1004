package io.varve.experiments.result;

import java.util.Locale;

/**
 * One contestant's measurement at one test: a row of {@code throughput.csv}. Immutable; an unknown value is NaN.
 *
 * @param repetition number of the repetition, from 1
 * @param test its name
 * @param pipeline commands that a connection sends at once
 * @param contestant the server's name
 * @param requests number of measured requests
 * @param ops requests a second, as the generator reports them
 * @param cpuMicrosPerOp user and system time of the server for one request
 * @param busyPercent the server's CPU time in relation to the measurement's duration
 * @param hitPercent reads that found their key
 * @param p50Millis latency as the generator reports it
 * @param p99Millis latency as the generator reports it
 */
public record TrialResult(int repetition, String test, int pipeline, String contestant, long requests, double ops,
        double cpuMicrosPerOp, double busyPercent, double hitPercent, double p50Millis, double p99Millis) {
    public static final String CSV_HEADER = "repetition,test,pipeline,server,requests,ops,server_cpu_us_per_op,server_busy_percent,hit_percent,p50_ms,p99_ms";

    /** CPU time of one operation; NaN without operations. */
    public static double cpuPerOperation(long microsBefore, long microsAfter, long requests) {
        return requests <= 0 ? Double.NaN : (double) (microsAfter - microsBefore) / requests;
    }

    public String csv() {
        return repetition + "," + test + "," + pipeline + "," + contestant.replace(',', ';') + "," + requests + ","
                + number(ops) + "," + number(cpuMicrosPerOp) + "," + number(busyPercent) + "," + number(hitPercent)
                + "," + number(p50Millis) + "," + number(p99Millis);
    }

    private static String number(double value) {
        return Double.isFinite(value) ? String.format(Locale.ROOT, "%.3f", value) : "";
    }
}
