package io.varve.experiments.result;

import java.util.Locale;

/**
 * One server's measurement under clients that wait for their replies: a row of {@code requests.csv}. Immutable.
 *
 * @param repetition number of the repetition, from 1
 * @param test its name
 * @param contestant the server's name
 * @param requests number of answered requests
 * @param missed reads that did not find their key
 * @param ops requests a second
 * @param cpuMicrosPerOp user and system time of the server for one request
 * @param busyPercent the server's use of one core, percent
 * @param meanMicros mean time from sending a request to its reply, µs
 * @param p50Micros median of that time, µs
 * @param p99Micros 99th percentile of that time, µs
 */
public record RequestTrial(int repetition, String test, String contestant, long requests, long missed, double ops,
        double cpuMicrosPerOp, double busyPercent, double meanMicros, double p50Micros, double p99Micros) {
    public static final String CSV_HEADER = "repetition,test,server,requests,missed,ops,server_cpu_us_per_op,server_busy_percent,mean_us,p50_us,p99_us";

    public String csv() {
        return String.format(Locale.ROOT, "%d,%s,%s,%d,%d,%.0f,%.3f,%.1f,%.3f,%.3f,%.3f", repetition, test,
                contestant.replace(',', ';'), requests, missed, ops, cpuMicrosPerOp, busyPercent, meanMicros, p50Micros,
                p99Micros);
    }
}
